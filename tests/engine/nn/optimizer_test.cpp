#include "engine/nn/optimizer.h"

#include <cmath>

#include "engine/core/check.h"
#include "engine/dispatch/dispatch.h"
#include "engine/nn/layers.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/reduce.h"
#include "tests/engine/nn/model_case.h"

namespace shardlab::test {
namespace {

using nn::ParameterRule;

World on(const std::string& mesh) {
  World world;
  world.mesh = mesh;
  return world;
}

/// All parameters of an MLP after four steps.
Values trained(const World& world, const std::vector<ParameterRule>& rules, const Placed& rows) {
  return on_all(world, [&](Worker& worker) {
    const nn::Mlp mlp(nn::Parameters(worker, rules), 3, 5);
    give_numbers(worker);
    nn::AdamWOptimizer optimizer(worker, {});
    for (int step = 0; step < 4; ++step) {
      const Tensor y = mlp(make(worker, numbers({7, 3}, step), rows));
      (void)backward(nn::mse_loss(y, make(worker, numbers({7, 3}, 50 + step))));
      optimizer.step();
      for (const Tensor& parameter : worker.parameters())
        EXPECT_FALSE(static_cast<bool>(parameter.gradient()));
    }
    return joined(worker.parameters());
  });
}

TEST(AdamWOptimizer, OverShardedParametersEqualsOneRank) {
  const Values one = trained({}, {}, {});
  const std::vector<ParameterRule> shard{{"", {{"domain", 0}}, {}}};
  const std::vector<ParameterRule> tensor{{"up.weight", {{"domain", 0}}, {{"domain", 0}}},
                                          {"up.bias", {{"domain", 0}}, {{"domain", 0}}},
                                          {"down.weight", {{"domain", 1}}, {{"domain", 1}}}};
  for (const std::string mesh : {"domain=2", "domain=3", "domain=4"}) {
    SCOPED_TRACE(mesh);
    std::vector<std::int64_t> rows(static_cast<std::size_t>(Mesh::parse(mesh).size()), 0);
    rows.front() = 2;
    rows.back() = 5;
    EXPECT_TRUE(close(trained(on(mesh), {}, cut(0, rows)), one, 1e-10));
    EXPECT_TRUE(close(trained(on(mesh), shard, cut(0, rows)), one, 1e-10));
    EXPECT_TRUE(close(trained(on(mesh), tensor, {}), one, 1e-10));
  }
}

TEST(AdamWOptimizer, CorrectsMomentsByTheNumberOfTheStep) {
  run_on({}, [](Worker& worker, int) {
    AdamWOptions options;
    options.learning_rate = 0.1;
    const Tensor w = parameter_of(worker, "w", numbers({3}, 1));
    nn::AdamWOptimizer optimizer(worker, options);
    Values expected = numbers({3}, 1);
    Values first = zeros({3});
    Values second = zeros({3});
    for (int step = 1; step <= 3; ++step) {
      const Values x = numbers({3}, 10 + step);
      (void)backward(sum(multiply(w, make(worker, x))));
      optimizer.step();
      for (std::int64_t i = 0; i < 3; ++i) {
        first[i] = options.beta1 * first[i] + (1 - options.beta1) * x[i];
        second[i] = options.beta2 * second[i] + (1 - options.beta2) * x[i] * x[i];
        const double mean = first[i] / (1 - std::pow(options.beta1, step));
        const double square = second[i] / (1 - std::pow(options.beta2, step));
        expected[i] -= options.learning_rate * (options.weight_decay * expected[i] +
                                                mean / (std::sqrt(square) + options.epsilon));
      }
      EXPECT_TRUE(close(whole_values(w), expected, 1e-12)) << step;
    }
  });
}

TEST(AdamWOptimizer, TrainingTwiceGivesTheSameBits) {
  const std::vector<ParameterRule> shard{{"", {{"domain", 0}}, {}}};
  const Placed rows = cut(0, {4, 0, 3});
  EXPECT_TRUE(same(trained(on("domain=3"), shard, rows), trained(on("domain=3"), shard, rows)));
}

TEST(AdamWOptimizer, KeepsTwoMomentsWhereAParameterIsStored) {
  for (const bool meta : {false, true}) {
    World world = on("domain=3");
    world.meta = meta;
    run_on(world, [](Worker& worker, int) {
      const std::vector<ParameterRule> shard{{"weight", {{"domain", 0}}, {}}};
      const nn::Linear layer(nn::Parameters(worker, shard), 40, 8);
      const Ledger& ledger = worker.backend().ledger();
      const std::int64_t stored = ledger.live(Category::parameter);
      nn::AdamWOptimizer optimizer(worker, {});
      EXPECT_EQ(ledger.live(Category::optimizer), 2 * stored);
      for (int step = 0; step < 2; ++step) {
        (void)backward(mean(layer(make(worker, zeros({6, 40}), cut(0, {1, 2, 3})))));
        optimizer.step();
        EXPECT_EQ(ledger.live(), 3 * stored);
        EXPECT_EQ(ledger.live(Category::gradient), 0);
      }
    });
  }
}

TEST(AdamWOptimizer, AMissingGradientIsNamedBeforeAnythingChanges) {
  for (const std::string mesh : {"domain=1", "domain=3"}) {
    const std::vector<std::string> texts = on_ranks<std::string>(on(mesh), [](Worker& worker) {
      const nn::Linear used(nn::Parameters(worker, {}).within("used"), 3, 2);
      const nn::Linear spare(nn::Parameters(worker, {}).within("spare"), 3, 2);
      give_numbers(worker);
      const Values before = joined(worker.parameters());
      nn::AdamWOptimizer optimizer(worker, {});
      (void)backward(mean(used(make(worker, numbers({4, 3})))));
      std::string text;
      try {
        optimizer.step();
      } catch (const Error& error) {
        text = error.what();
      }
      EXPECT_TRUE(same(joined(worker.parameters()), before));
      return text;
    });
    for (const std::string& text : texts)
      EXPECT_EQ(text, "adamw: parameter spare.weight has no gradient; the loss does not reach it");
  }
}

}  // namespace
}  // namespace shardlab::test
