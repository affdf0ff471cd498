#include "engine/ops/optimizer_step.h"

#include <cmath>

#include "tests/support/world.h"

namespace shardlab::test {
namespace {

constexpr AdamWOptions adam{0.1, 0.8, 0.9, 1e-8, 0.05};

Values after_adamw(const World& world, const Placed& placed, const Placed& gradient_placed) {
  return on_all(world, [&](Worker& worker) {
    const Tensor p = make(worker, numbers({5, 3}, 1), placed);
    const Tensor m = make(worker, zeros({5, 3}), placed);
    const Tensor v = make(worker, zeros({5, 3}), placed);
    for (int step = 1; step <= 3; ++step)
      adamw_step(p, make(worker, numbers({5, 3}, 10 + step), gradient_placed), m, v, adam, step);
    return whole_values(p);
  });
}

Values adamw_reference() {
  Values p = numbers({5, 3}, 1);
  Values m = zeros({5, 3});
  Values v = zeros({5, 3});
  for (int step = 1; step <= 3; ++step) {
    const Values g = numbers({5, 3}, 10 + step);
    for (std::int64_t i = 0; i < 15; ++i) {
      p[i] *= 1 - adam.learning_rate * adam.weight_decay;
      m[i] = adam.beta1 * m[i] + (1 - adam.beta1) * g[i];
      v[i] = adam.beta2 * v[i] + (1 - adam.beta2) * g[i] * g[i];
      const double first = m[i] / (1 - std::pow(adam.beta1, step));
      const double second = v[i] / (1 - std::pow(adam.beta2, step));
      p[i] -= adam.learning_rate * first / (std::sqrt(second) + adam.epsilon);
    }
  }
  return p;
}

TEST(AdamW, ThreeStepsEqualTheFormula) {
  EXPECT_TRUE(close(after_adamw({}, {}, {}), adamw_reference(), 1e-12));
  World single;
  single.dtype = Dtype::float32;
  EXPECT_TRUE(close(after_adamw(single, {}, {}), adamw_reference(), 1e-5));
}

TEST(AdamW, TheGradientMovesToWhereTheParameterIsKept) {
  World world;
  world.mesh = "domain=3";
  const Placed ragged = cut(0, {4, 0, 1});
  const Placed pending{{}, {0}, Reduction::sum};
  EXPECT_TRUE(close(after_adamw(world, ragged, ragged), adamw_reference(), 1e-12));
  EXPECT_TRUE(close(after_adamw(world, ragged, {}), adamw_reference(), 1e-12));
  EXPECT_TRUE(close(after_adamw(world, ragged, pending), adamw_reference(), 1e-12));
  EXPECT_TRUE(close(after_adamw(world, {}, pending), adamw_reference(), 1e-12));
  EXPECT_TRUE(close(after_adamw(world, {}, cut(1, {1, 1, 1})), adamw_reference(), 1e-12));
}

TEST(AdamW, UpdatesAParameterInPlaceAndCountsAVersion) {
  run_on({}, [](Worker& worker, int) {
    const Tensor p = parameter_of(worker, "w", numbers({4}));
    const Tensor m = make(worker, zeros({4}));
    const Tensor v = make(worker, zeros({4}));
    const std::int64_t live = worker.backend().ledger().live();
    const std::uint32_t version = p.state().buffer->version();
    {
      const Tensor g = make(worker, numbers({4}, 2));
      adamw_step(p, g, m, v, adam, 1);
    }
    EXPECT_EQ(worker.backend().ledger().live(), live);
    EXPECT_EQ(p.state().buffer->version(), version + 1);
    EXPECT_TRUE(p.tracked());
  });
}

TEST(AdamW, AGradientOfAnotherShapeIsRefused) {
  EXPECT_NE(error_of({},
                     [](Worker& worker) {
                       adamw_step(make(worker, numbers({4})), make(worker, numbers({1})),
                                  make(worker, zeros({4})), make(worker, zeros({4})), adam, 1);
                     }),
            "");
  EXPECT_NE(error_of({},
                     [](Worker& worker) {
                       adamw_step(make(worker, numbers({1})), make(worker, numbers({4})),
                                  make(worker, zeros({1})), make(worker, zeros({1})), adam, 1);
                     }),
            "");
}

Values after_sgd(const World& world, const SgdOptions& options, const Placed& placed) {
  return on_all(world, [&](Worker& worker) {
    const Tensor p = make(worker, numbers({5, 3}, 1), placed);
    const Tensor buffer = make(worker, zeros({5, 3}), placed);
    for (int step = 1; step <= 3; ++step)
      sgd_step(p, make(worker, numbers({5, 3}, 10 + step)), buffer, options, step);
    return whole_values(p);
  });
}

TEST(Sgd, ThreeStepsEqualTheFormulaOnAnyLayout) {
  for (const SgdOptions& options :
       {SgdOptions{0.1, 0, 0, 0, false}, SgdOptions{0.1, 0.9, 0, 0.01, false},
        SgdOptions{0.1, 0.9, 0.5, 0, false}, SgdOptions{0.1, 0.9, 0, 0.01, true}}) {
    Values p = numbers({5, 3}, 1);
    Values buffer = zeros({5, 3});
    for (int step = 1; step <= 3; ++step) {
      const Values gradient = numbers({5, 3}, 10 + step);
      for (std::int64_t i = 0; i < 15; ++i) {
        double g = gradient[i] + options.weight_decay * p[i];
        if (options.momentum != 0) {
          buffer[i] = step == 1 ? g : options.momentum * buffer[i] + (1 - options.dampening) * g;
          g = options.nesterov ? g + options.momentum * buffer[i] : buffer[i];
        }
        p[i] -= options.learning_rate * g;
      }
    }
    EXPECT_TRUE(close(after_sgd({}, options, {}), p, 1e-12));
    World world;
    world.mesh = "domain=3";
    EXPECT_TRUE(close(after_sgd(world, options, cut(0, {4, 0, 1})), p, 1e-12));
  }
}

}  // namespace
}  // namespace shardlab::test
