#include "engine/dispatch/create.h"
#include "engine/dispatch/dispatch.h"
#include "engine/dispatch/redistribute.h"
#include "engine/dispatch/tape.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/linear.h"
#include "engine/ops/random.h"
#include "engine/ops/reduce.h"
#include "tests/support/world.h"

namespace shardlab::test {
namespace {

struct Result {
  double loss = 0;
  std::vector<Values> gradients;
  std::int64_t peak = 0;
};

/// A captured parameter, a captured activation and random numbers inside a checkpoint.
Result run_net(const World& world, const Placed& rows, bool with_checkpoint) {
  return on_ranks<Result>(world, [&](Worker& worker) {
    const Tensor first = parameter_of(worker, "first", numbers({6, 4}, 1));
    const Tensor inside = parameter_of(worker, "inside", numbers({6, 6}, 2));
    const Tensor x = make(worker, numbers({9, 4}, 3), rows);
    const Tensor activation = tanh(linear(x, first));
    const Tensor given = scale(activation, 0.5);
    worker.backend().ledger().reset_peak();
    const auto block = [&](std::span<const Tensor> in) {
      const Tensor noise =
          random_normal(worker, {{9, 6}, Dtype::float64, activation.layout()}, 0.1);
      Tensor y = multiply(activation, linear(in[0], inside));
      for (int i = 0; i < 4; ++i) y = gelu(add(y, noise));
      return y;
    };
    const std::vector<Tensor> inputs{given};
    const Tensor y = with_checkpoint ? checkpoint(block, inputs) : block(inputs);
    const Tensor more = random_normal(worker, {{9, 6}, Dtype::float64, activation.layout()}, 0.1);
    const Tensor loss = mean(multiply(multiply(y, y), more));
    Result result;
    result.loss = value_of(loss);
    (void)backward(loss);
    result.peak = worker.backend().ledger().peak();
    result.gradients = {whole_values(first.gradient()), whole_values(inside.gradient()),
                        Values{{}, {static_cast<double>(worker.random_calls())}}};
    return result;
  })[0];
}

TEST(Checkpoint, EqualsNoCheckpointInValuesGradientsAndRandomNumbers) {
  World three;
  three.mesh = "domain=3";
  for (const auto& [world, rows] :
       {std::pair{World{}, Placed{}}, std::pair{three, cut(0, {3, 3, 3})},
        std::pair{three, cut(0, {5, 0, 4})}, std::pair{three, Placed{}}}) {
    const Result plain = run_net(world, rows, false);
    const Result recomputed = run_net(world, rows, true);
    EXPECT_EQ(recomputed.loss, plain.loss);
    for (std::size_t i = 0; i < plain.gradients.size(); ++i)
      EXPECT_TRUE(close(recomputed.gradients[i], plain.gradients[i], 1e-14)) << i;
  }
}

TEST(Checkpoint, KeepsNothingOfItsInside) {
  run_on({}, [](Worker& worker, int) {
    const Tensor x = make(worker, numbers({100}), {}, true);
    const std::int64_t before = worker.backend().ledger().live();
    const Tensor y = checkpoint(
        [](std::span<const Tensor> in) { return gelu(gelu(gelu(gelu(in[0])))); }, std::span(&x, 1));
    EXPECT_EQ(worker.backend().ledger().live() - before, engine_bytes(800));
  });
}

TEST(Checkpoint, ACapturedTensorThatIsOnlyMovedInsideHasItsGradient) {
  World world;
  world.mesh = "domain=2";
  run_on(world, [](Worker& worker, int) {
    const Tensor x = make(worker, numbers({4}, 1), cut(0, {1, 3}), true);
    const Tensor w = make(worker, numbers({4}, 2), cut(0, {1, 3}), true);
    const Tensor y = checkpoint(
        [&](std::span<const Tensor> in) { return multiply(gather(w), in[0]); }, std::span(&x, 1));
    const Tensor loss = sum(y);
    const Tensor one = full(worker, {{}, Dtype::float64, worker.layouts().replicated(0)}, 1);
    const std::vector<Tensor> wrt{x, w};
    const std::vector<Tensor> g = gradients(std::span(&loss, 1), wrt, std::span(&one, 1));
    EXPECT_TRUE(close(whole_values(g[0]), numbers({4}, 2), 1e-14));
    EXPECT_TRUE(close(whole_values(g[1]), numbers({4}, 1), 1e-14));
  });
}

TEST(Checkpoint, InsideACheckpointEqualsNone) {
  const auto run = [](int depth) {
    return on_all({}, [depth](Worker& worker) {
      const Tensor w = parameter_of(worker, "w", numbers({4, 4}, 2));
      const Tensor x = make(worker, numbers({3, 4}, 1), {}, true);
      const auto layer = [&](std::span<const Tensor> in) { return tanh(linear(in[0], w)); };
      const auto two = [&](std::span<const Tensor> in) {
        const Tensor y = depth > 1 ? checkpoint(layer, in) : layer(in);
        return layer(std::span(&y, 1));
      };
      const Tensor y = depth > 0 ? checkpoint(two, std::span(&x, 1)) : two(std::span(&x, 1));
      (void)backward(mean(multiply(y, y)));
      return whole_values(w.gradient());
    });
  };
  EXPECT_TRUE(close(run(1), run(0), 1e-14));
  EXPECT_TRUE(close(run(2), run(0), 1e-14));
}

TEST(Checkpoint, SecondOrderThroughItIsRefused) {
  EXPECT_NE(
      error_of(
          {},
          [](Worker& worker) {
            const Tensor x = make(worker, numbers({3}), {}, true);
            const Tensor y =
                checkpoint([](std::span<const Tensor> in) { return multiply(in[0], in[0]); },
                           std::span(&x, 1));
            const Tensor seed = make(worker, numbers({3}, 1));
            (void)gradients(std::span(&y, 1), std::span(&x, 1), std::span(&seed, 1), {true, 0});
          })
          .find("checkpoint: "),
      std::string::npos);
}

}  // namespace
}  // namespace shardlab::test
