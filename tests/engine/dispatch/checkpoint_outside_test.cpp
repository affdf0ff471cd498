#include "engine/core/check.h"
#include "engine/dispatch/create.h"
#include "engine/dispatch/intrinsic.h"
#include "engine/dispatch/redistribute.h"
#include "engine/dispatch/tape.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/linear.h"
#include "engine/ops/reduce.h"
#include "tests/support/world.h"

namespace shardlab::test {
namespace {

using Function = std::function<Tensor(std::span<const Tensor>)>;

Tensor run(bool with_checkpoint, const Function& f, const std::vector<Tensor>& inputs) {
  return with_checkpoint ? checkpoint(f, inputs) : f(inputs);
}

World three() {
  World world;
  world.mesh = "domain=3";
  return world;
}

/// What a training step found, the gradients of named parameters or "none".
struct Found {
  std::vector<std::string> unreached;
  std::vector<Values> gradients;
};

/// A program that makes parameters and returns a loss; what it hands to a checkpoint is called
/// again after it has ended.
using Loss = std::function<Tensor(Worker&, bool with_checkpoint)>;

void expect_as_without(const Loss& loss) {
  for (const World& world : {World{}, three()}) {
    const auto run_it = [&](bool with_checkpoint) {
      return on_ranks<Found>(world, [&](Worker& worker) {
        Found found;
        found.unreached = backward(loss(worker, with_checkpoint)).unreached;
        for (const Tensor& parameter : worker.parameters()) {
          const Tensor g = parameter.gradient();
          found.gradients.push_back(g ? whole_values(g) : Values{{0}, {}});
        }
        return found;
      })[0];
    };
    const Found plain = run_it(false);
    const Found recomputed = run_it(true);
    EXPECT_EQ(recomputed.unreached, plain.unreached);
    for (std::size_t p = 0; p < plain.gradients.size(); ++p)
      EXPECT_TRUE(close(recomputed.gradients[p], plain.gradients[p], 1e-14)) << p;
  }
}

Tensor rows(Worker& worker) {
  return make(worker, numbers({4, 3}, 9), worker.mesh().size() == 3 ? cut(0, {1, 0, 3}) : Placed{});
}

TEST(CheckpointOutside, AnInputGivenBackIsThatInput) {
  run_on(three(), [](Worker& worker, int) {
    const Tensor w = parameter_of(worker, "w", numbers({3}, 1));
    const Tensor y = checkpoint([](std::span<const Tensor> in) { return in[0]; }, std::span(&w, 1));
    EXPECT_EQ(y, w);
    EXPECT_TRUE(w.state().link.leaf);
    EXPECT_EQ(worker.tape().begin(), worker.tape().end());
  });
  expect_as_without([](Worker& worker, bool with) {
    const Tensor w = parameter_of(worker, "w", numbers({3}, 1));
    const Tensor hidden = multiply(rows(worker), w);
    const Tensor y = run(with, [](std::span<const Tensor> in) { return in[0]; }, {hidden});
    return mean(multiply(multiply(y, hidden), w));
  });
}

TEST(CheckpointOutside, ACapturedTensorGivenBackKeepsItsPast) {
  expect_as_without([](Worker& worker, bool with) {
    const Tensor w = parameter_of(worker, "w", numbers({3}, 1));
    const Tensor v = parameter_of(worker, "v", numbers({3}, 2));
    const Tensor hidden = multiply(rows(worker), w);
    const Tensor same_leaf = run(with, [=](std::span<const Tensor>) { return v; }, {hidden});
    const Tensor same_hidden = run(with, [=](std::span<const Tensor>) { return hidden; }, {v});
    return mean(multiply(multiply(same_leaf, same_hidden), hidden));
  });
}

TEST(CheckpointOutside, AConstantGivenBackStaysAConstant) {
  run_on(three(), [](Worker& worker, int) {
    const Tensor w = parameter_of(worker, "w", numbers({3}, 1));
    const Tensor v = parameter_of(worker, "v", numbers({3}, 2));
    const Tensor constant = make(worker, numbers({3}, 3));
    const Tensor y =
        checkpoint([=](std::span<const Tensor>) { return constant; }, std::span(&w, 1));
    EXPECT_FALSE(constant.tracked());
    EXPECT_EQ(backward(mean(multiply(y, v))).unreached, std::vector<std::string>{"w"});
    EXPECT_FALSE(static_cast<bool>(w.gradient()));
    Values expected = numbers({3}, 3);
    for (double& x : expected.data) x /= 3;
    EXPECT_TRUE(close(whole_values(v.gradient()), expected, 1e-14));
  });
}

TEST(CheckpointOutside, ALeafReadByADeadBranchIsNotReached) {
  expect_as_without([](Worker& worker, bool with) {
    const Tensor used = parameter_of(worker, "used", numbers({3}, 1));
    const Tensor dead = parameter_of(worker, "dead", numbers({3}, 2));
    const Function f = [=](std::span<const Tensor> in) {
      const Tensor ignored = multiply(in[0], dead);
      return multiply(in[0], used);
    };
    return mean(run(with, f, {rows(worker)}));
  });
}

TEST(CheckpointOutside, WhatLeadsToADeadBranchOnlyIsNotReached) {
  expect_as_without([](Worker& worker, bool with) {
    const Tensor used = parameter_of(worker, "used", numbers({3}, 1));
    const Tensor dead = parameter_of(worker, "dead", numbers({3}, 2));
    const Tensor both = parameter_of(worker, "both", numbers({3}, 3));
    const Tensor before = tanh(multiply(dead, both));
    const Function f = [=](std::span<const Tensor> in) {
      const Tensor ignored = multiply(in[1], before);
      return multiply(in[0], used);
    };
    return mean(run(with, f, {multiply(rows(worker), both), exp(dead)}));
  });
}

TEST(CheckpointOutside, ADeadInputNamedIsNotReached) {
  for (const bool with : {false, true})
    EXPECT_EQ(error_of({},
                       [&](Worker& worker) {
                         const Tensor used = parameter_of(worker, "used", numbers({3}, 1));
                         const Tensor dead = parameter_of(worker, "dead", numbers({3}, 2));
                         const Function f = [](std::span<const Tensor> in) {
                           const Tensor ignored = exp(in[1]);
                           return exp(in[0]);
                         };
                         const Tensor y = run(with, f, {used, dead});
                         const Tensor seed = make(worker, numbers({3}, 3));
                         const std::vector<Tensor> wrt{used, dead};
                         (void)gradients(std::span(&y, 1), wrt, std::span(&seed, 1));
                       }),
              "invalid: rank 0: gradients: the outputs do not reach dead");
}

TEST(CheckpointOutside, AnInputThatIsAlsoCapturedHasBothContributions) {
  expect_as_without([](Worker& worker, bool with) {
    const Tensor w = parameter_of(worker, "w", numbers({3}, 1));
    const Tensor hidden = multiply(rows(worker), w);
    const Function square = [=](std::span<const Tensor> in) { return multiply(in[0], hidden); };
    const Function with_leaf = [=](std::span<const Tensor> in) { return multiply(in[0], w); };
    return mean(multiply(run(with, square, {hidden}), run(with, with_leaf, {w})));
  });
}

TEST(CheckpointOutside, AnInputGivenTwiceHasBothContributions) {
  expect_as_without([](Worker& worker, bool with) {
    const Tensor w = parameter_of(worker, "w", numbers({3}, 1));
    const Tensor hidden = multiply(rows(worker), w);
    const Function f = [](std::span<const Tensor> in) {
      return multiply(exp(in[0]), multiply(in[1], in[2]));
    };
    return mean(run(with, f, {hidden, w, hidden}));
  });
}

TEST(CheckpointOutside, AParameterGivenAsAnInputIsReadWhereItIsUsed) {
  run_on(three(), [](Worker& worker, int) {
    const Tensor w = parameter_of(worker, "w", numbers({6, 3}, 1), cut(0, {4, 0, 2}), {});
    const Tensor x = rows(worker);
    worker.trace().keep(true);
    const auto count = [&] {
      int gathers = 0;
      for (const Step& step : worker.trace().steps())
        if (step.kind == Step::Kind::start && std::string(step.op) == "all_gather") ++gathers;
      return gathers;
    };
    const Function f = [](std::span<const Tensor> in) { return tanh(linear(in[1], in[0])); };
    const std::vector<Tensor> inputs{w, x};
    const Tensor y = checkpoint(f, inputs);
    EXPECT_EQ(count(), 1);
    EXPECT_TRUE(backward(mean(multiply(y, y))).unreached.empty());
    EXPECT_EQ(count(), 2);
    EXPECT_EQ(w.gradient().layout(), w.layout());
  });
}

TEST(CheckpointOutside, ADeadBranchInsideAnInnerCheckpointIsNotReached) {
  expect_as_without([](Worker& worker, bool with) {
    const Tensor used = parameter_of(worker, "used", numbers({3}, 1));
    const Tensor dead = parameter_of(worker, "dead", numbers({3}, 2));
    const Function inner = [=](std::span<const Tensor> in) {
      const Tensor ignored = multiply(in[0], dead);
      return multiply(in[0], used);
    };
    const Function outer = [=](std::span<const Tensor> in) {
      return tanh(run(with, inner, {in[0]}));
    };
    return mean(run(with, outer, {rows(worker)}));
  });
}

TEST(CheckpointOutside, SecondOrderThroughItIsUnsupported) {
  EXPECT_EQ(
      error_of(
          {},
          [](Worker& worker) {
            const Tensor x = make(worker, numbers({3}), {}, true);
            const Tensor y =
                checkpoint([](std::span<const Tensor> in) { return multiply(in[0], in[0]); },
                           std::span(&x, 1));
            const Tensor seed = make(worker, numbers({3}, 1));
            (void)gradients(std::span(&y, 1), std::span(&x, 1), std::span(&seed, 1), {true, 0});
          }),
      "unsupported: rank 0: checkpoint: its gradient has none of its own; use record = "
      "false");
}

}  // namespace
}  // namespace shardlab::test
