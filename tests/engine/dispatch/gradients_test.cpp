#include <cmath>

#include "engine/dispatch/create.h"
#include "engine/dispatch/dispatch.h"
#include "engine/dispatch/tape.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/linear.h"
#include "engine/ops/reduce.h"
#include "tests/engine/dispatch/tape_case.h"

namespace shardlab::test {
namespace {

Tensor one_of(const Tensor& like) {
  Worker& worker = like.worker();
  return full(worker, {like.shape(), like.dtype(), worker.layouts().replicated(like.ndim())}, 1);
}

std::vector<Tensor> gradients_of(const Tensor& output, const std::vector<Tensor>& wrt,
                                 bool record = false) {
  const Tensor seed = one_of(output);
  return gradients(std::span(&output, 1), wrt, std::span(&seed, 1), {record, 0});
}

/// A multi-layer perceptron of points in 3 dims.
struct Net {
  Net(Worker& worker, const Placed& rows, std::int64_t points = 14)
      : x(make(worker, numbers({points, 3}, 1), rows, true)),
        weights{make(worker, numbers({5, 3}, 2), {}, true), make(worker, numbers({5}, 3), {}, true),
                make(worker, numbers({1, 5}, 4), {}, true)} {}

  [[nodiscard]] Tensor output(Tensor (*activation)(const Tensor&) = tanh) const {
    return linear(activation(linear(x, weights[0], weights[1])), weights[2]);
  }

  Tensor x;
  std::vector<Tensor> weights;
};

/// mean(g^2) with g = du/dx, in float64 and by hand, and its gradients by differences.
Values residual_gradients(std::int64_t points) {
  std::vector<Values> p{numbers({points, 3}, 1), numbers({5, 3}, 2), numbers({5}, 3),
                        numbers({1, 5}, 4)};
  const auto loss = [&] {
    double sum = 0;
    for (std::int64_t r = 0; r < points; ++r)
      for (std::int64_t i = 0; i < 3; ++i) {
        double g = 0;
        for (std::int64_t o = 0; o < 5; ++o) {
          double a = p[2][o];
          for (std::int64_t k = 0; k < 3; ++k) a += p[0][r * 3 + k] * p[1][o * 3 + k];
          const double t = std::tanh(a);
          g += p[3][o] * (1 - t * t) * p[1][o * 3 + i];
        }
        sum += g * g;
      }
    return sum / static_cast<double>(3 * points);
  };
  Values all;
  for (std::size_t w = 1; w < p.size(); ++w)
    for (double& value : p[w].data) {
      const double before = value;
      constexpr double h = 1e-5;
      value = before + h;
      const double above = loss();
      value = before - h;
      const double below = loss();
      value = before;
      all.data.push_back((above - below) / (2 * h));
    }
  all.shape = {static_cast<std::int64_t>(all.data.size())};
  return all;
}

TEST(Gradients, PeersFact2_APhysicsResidualTrainsOnEvenRaggedAndEmptyParts) {
  for (const std::vector<std::int64_t>& rows : even_and_other_rows()) {
    const Values expected = residual_gradients(count_of(rows));
    const Values found = on_all(four(), [&](Worker& worker) {
      const Net net(worker, cut(0, rows), count_of(rows));
      const Tensor g = gradients_of(net.output(), {net.x}, true)[0];
      return joined(gradients_of(mean_square(g), net.weights));
    });
    EXPECT_TRUE(close(found, expected, 1e-6)) << rows[0] << "," << rows[1];
  }
}

TEST(Gradients, SecondOrderEqualsOneRankForEveryActivation) {
  for (const auto activation : {tanh, gelu, gelu_tanh, silu, sigmoid}) {
    const auto run = [&](const World& world, const Placed& rows) {
      return on_all(world, [&](Worker& worker) {
        const Net net(worker, rows);
        const Tensor g = gradients_of(net.output(activation), {net.x}, true)[0];
        std::vector<Tensor> wrt = net.weights;
        wrt.push_back(net.x);
        return joined(gradients_of(add(mean_square(g), sum(net.output(activation))), wrt));
      });
    };
    const Values one = run({}, {});
    for (const std::vector<std::int64_t>& rows : kinds_of_rows)
      EXPECT_TRUE(close(run(four(), cut(0, rows)), one, 1e-10));
  }
}

TEST(Gradients, AFusedGradientWithoutOneOfItsOwnRefusesByName) {
  EXPECT_EQ(error_of({},
                     [](Worker& worker) {
                       const Tensor x = make(worker, numbers({3}), {}, true);
                       const Tensor g = gradients_of(relu(multiply(x, x)), {x}, true)[0];
                       const Tensor h = gradients_of(mean_square(g), {x}, true)[0];
                       const Tensor i = gradients_of(mean_square(h), {x}, true)[0];
                       (void)i;
                     })
                .substr(0, 21),
            "unsupported: rank 0: ");
}

TEST(Gradients, ATensorThatTheOutputsDoNotReachIsNamed) {
  EXPECT_EQ(error_of({},
                     [](Worker& worker) {
                       const Tensor x = parameter_of(worker, "used", numbers({3}));
                       const Tensor y = parameter_of(worker, "unused", numbers({3}));
                       const Tensor head = multiply(y, y);
                       (void)head;
                       (void)gradients_of(multiply(x, x), {x, y});
                     }),
            "invalid: rank 0: gradients: the outputs do not reach unused");
  EXPECT_NE(error_of({},
                     [](Worker& worker) {
                       const Tensor x = make(worker, numbers({3}), {}, true);
                       (void)gradients_of(multiply(x, x), {x, make(worker, numbers({3}))});
                     })
                .find("the outputs do not reach tensor 1"),
            std::string::npos);
}

TEST(Gradients, OfATensorInsideTheTapeAreThoseOfTheChainRule) {
  run_on({}, [](Worker& worker, int) {
    const Tensor x = make(worker, numbers({3}), {}, true);
    const Tensor y = multiply(x, x);
    const Tensor z = multiply(y, y);
    const std::vector<Tensor> g = gradients_of(z, {y, x});
    const Values values = numbers({3});
    for (std::int64_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(whole_values(g[0])[i], 2 * values[i] * values[i], 1e-14);
      EXPECT_NEAR(whole_values(g[1])[i], 4 * std::pow(values[i], 3), 1e-14);
    }
  });
}

TEST(Gradients, TouchNoLeaf) {
  run_on({}, [](Worker& worker, int) {
    const Tensor x = make(worker, numbers({3}), {}, true);
    (void)gradients_of(multiply(x, x), {x});
    EXPECT_FALSE(static_cast<bool>(x.gradient()));
  });
}

TEST(Gradients, AnOperandChangedInPlaceBeforeItsGradientIsAnInternalError) {
  EXPECT_EQ(error_of({},
                     [](Worker& worker) {
                       const Tensor x = make(worker, numbers({3}), {}, true);
                       const Tensor y = multiply(x, x);
                       const std::vector<double> other(3, 1.0);
                       write(x, other.data());
                       (void)gradients_of(y, {x});
                     }),
            "internal: rank 0: multiply (tape entry 0): an operand was changed in place before its "
            "gradient was taken");
}

TEST(Gradients, UnderNoGradNothingIsTapedOrKept) {
  run_on({}, [](Worker& worker, int) {
    const Tensor x = make(worker, numbers({30}), {}, true);
    const std::int64_t live = worker.backend().ledger().live();
    const NoGrad no_grad(worker);
    EXPECT_FALSE(multiply(exp(multiply(x, x)), x).tracked());
    EXPECT_EQ(worker.tape().begin(), worker.tape().end());
    EXPECT_EQ(worker.backend().ledger().live(), live);
  });
}

TEST(LocalRegion, B05_AHandWrittenGradientIsPlacedLikeAnyOther) {
  // y = 3 x on this rank's part alone, as an op with a gradient on whole tensors.
  class Tripled final : public Op {
   public:
    [[nodiscard]] const char* name() const override { return "tripled"; }
    void gradient(GradientCall& call) const override {
      call.results[0] = scale(call.incoming[0], 3);
    }
  };
  World world;
  world.mesh = "tensor=2";
  run_on(world, [](Worker& worker, int) {
    const Tensor w = parameter_of(worker, "w", numbers({4, 3}, 1), cut(0, {3, 1}), cut(0, {3, 1}));
    const Tensor x = make(worker, numbers({5, 3}, 2), {}, true);
    const Tensor hidden = linear(x, w);
    const Tensor part = scale(local(hidden), 3);
    Tensor y = whole(part, hidden.layout(), hidden.shape());
    worker.tape().append(make_ref<Tripled>(), std::span(&hidden, 1), std::span(&y, 1));
    const Values g = whole_values(gradients_of(sum(y), {x})[0]);
    Values expected = zeros({5, 3});
    const Values weight = numbers({4, 3}, 1);
    for (std::int64_t i = 0; i < 15; ++i)
      for (std::int64_t o = 0; o < 4; ++o) expected[i] += 3 * weight[o * 3 + i % 3];
    EXPECT_TRUE(close(g, expected, 1e-13));
  });
}

}  // namespace
}  // namespace shardlab::test
