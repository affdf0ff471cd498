#include "engine/dispatch/tape.h"

#include "engine/dispatch/create.h"
#include "engine/dispatch/dispatch.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/linear.h"
#include "engine/ops/optimizer_step.h"
#include "engine/ops/reduce.h"
#include "tests/engine/dispatch/tape_case.h"

namespace shardlab::test {
namespace {

TEST(Backward, PeersFact1_MeanLossesHaveTheGradientOfOneDeviceOnAnyRows) {
  for (const std::vector<std::int64_t>& rows : even_and_other_rows()) {
    const std::int64_t count = count_of(rows);
    const Values x = numbers({count, 3}, 1);
    const Values t = numbers({count, 3}, 2);
    run_on(four(), [&](Worker& worker, int) {
      const Tensor w = parameter_of(worker, "w", numbers({3}, 3));
      const Tensor error =
          subtract(multiply(make(worker, x, cut(0, rows)), w), make(worker, t, cut(0, rows)));
      const Tensor loss = mean_square(error);
      double value = 0;
      Values gradient = zeros({3});
      const Values weight = numbers({3}, 3);
      const auto elements = static_cast<double>(3 * count);
      for (std::int64_t i = 0; i < 3 * count; ++i) {
        const double e = x[i] * weight[i % 3] - t[i];
        value += e * e / elements;
        gradient[i % 3] += 2 * e * x[i] / elements;
      }
      EXPECT_NEAR(value_of(loss), value, 1e-13);
      (void)backward(loss);
      EXPECT_TRUE(close(whole_values(w.gradient()), gradient, 1e-12));
    });
  }
}

TEST(Backward, C03_C04_TheGradientNormDoesNotDependOnTheNumberOfRanks) {
  for (const std::string mesh : {"dp=1", "dp=2", "dp=4", "dp=2,sp=2"}) {
    World world;
    world.mesh = mesh;
    run_on(world, [&](Worker& worker, int) {
      const shardlab::Cut cuts[] = {{"dp", 0, 1}, {"sp", 1, 1}};
      const Spec spec = spread(worker, {8, 6}, Dtype::float64, cuts);
      const Tensor tokens = from_values(worker, spec, std::vector<double>(48, 1.0));
      const Tensor w = parameter_of(worker, "w", Values{{}, {1}});
      const Tensor loss = mean(multiply(tokens, w));
      EXPECT_DOUBLE_EQ(value_of(loss), 1);
      (void)backward(loss);
      EXPECT_DOUBLE_EQ(value_of(w.gradient()), 1);
    });
  }
}

TEST(Backward, NamesParametersThatTheLossDoesNotRead) {
  for (const std::vector<std::int64_t>& rows : even_and_other_rows()) {
    run_on(four(), [&](Worker& worker, int) {
      const Tensor body = parameter_of(worker, "body", numbers({3}, 1));
      const Tensor head = parameter_of(worker, "head", numbers({3}, 2));
      const Tensor spare = parameter_of(worker, "spare", numbers({3}, 3));
      const Tensor x = make(worker, numbers({count_of(rows), 3}), cut(0, rows));
      const Tensor hidden = multiply(x, body);
      // Read, but only by an output that the loss does not reach.
      const Tensor other = multiply(hidden, head);
      EXPECT_EQ(backward(mean(hidden)).unreached, (std::vector<std::string>{"head", "spare"}));
      EXPECT_TRUE(static_cast<bool>(body.gradient()));
      EXPECT_FALSE(static_cast<bool>(head.gradient()));
      EXPECT_FALSE(static_cast<bool>(spare.gradient()));
    });
  }
}

TEST(Backward, OfALossThatIsNoScalarOrReadsNoParameterIsRefused) {
  EXPECT_EQ(
      error_of({},
               [](Worker& worker) { (void)backward(exp(make(worker, numbers({3}), {}, true))); }),
      "invalid: rank 0: backward: the loss is [3], one value is needed");
  EXPECT_EQ(error_of({}, [](Worker& worker) { (void)backward(mean(make(worker, numbers({3})))); }),
            "invalid: rank 0: backward: the loss depends on no parameter");
}

TEST(Backward, AGradientMovesOnceToWhereTheParameterIsKept) {
  World world;
  world.mesh = "domain=3";
  run_on(world, [](Worker& worker, int) {
    const Placed stored = cut(0, {4, 0, 2});
    const Tensor w = parameter_of(worker, "w", numbers({6, 4}, 1), stored, {});
    const Tensor x = make(worker, numbers({5, 4}, 2), cut(0, {1, 1, 3}));
    worker.trace().keep(true);
    (void)backward(mean_square(linear(x, w)));
    EXPECT_EQ(w.gradient().layout(), w.layout());
    int scattered = 0;
    int gathered = 0;
    for (const Step& step : worker.trace().steps()) {
      if (step.kind != Step::Kind::start) continue;
      scattered += std::string(step.op) == "reduce_scatter" ? 1 : 0;
      gathered += std::string(step.op) == "all_gather" ? 1 : 0;
      EXPECT_FALSE(std::string(step.op) == "all_reduce" && step.shape == Shape({6, 4}));
    }
    EXPECT_EQ(scattered, 1);
    EXPECT_GE(gathered, 1);
  });
}

TEST(Backward, StoredAndUsedLayoutsGiveTheGradientOfOneRank) {
  const auto run = [](const World& world, const Placed& stored, const Placed& used,
                      const Placed& rows) {
    return on_all(world, [&](Worker& worker) {
      const Tensor w = parameter_of(worker, "w", numbers({6, 4}, 1), stored, used);
      const Tensor v = parameter_of(worker, "v", numbers({2, 6}, 3), {}, {});
      const Tensor x = make(worker, numbers({5, 4}, 2), rows);
      (void)backward(mean_square(linear(tanh(linear(x, w)), v)));
      return joined({w.gradient(), v.gradient()});
    });
  };
  const Values one = run({}, {}, {}, {});
  World world;
  world.mesh = "domain=3";
  const Placed rows = cut(0, {4, 0, 1});
  EXPECT_TRUE(close(run(world, {}, {}, rows), one, 1e-12));
  EXPECT_TRUE(close(run(world, cut(0, {1, 5, 0}), {}, rows), one, 1e-12));
  EXPECT_TRUE(close(run(world, cut(1, {1, 0, 3}), {}, rows), one, 1e-12));
  EXPECT_TRUE(close(run(world, cut(0, {1, 5, 0}), cut(0, {1, 5, 0}), {}), one, 1e-12));
  EXPECT_TRUE(close(run(world, cut(1, {1, 0, 3}), cut(1, {1, 0, 3}), {}), one, 1e-12));
  EXPECT_TRUE(close(run(world, cut(1, {1, 0, 3}), cut(1, {1, 0, 3}), rows), one, 1e-12));
  world.mesh = "data=2,domain=2";
  const Placed fsdp_and_tensor{{{0, {1, 0}, {1, 2, 0, 3}}}, {}, Reduction::sum};
  const Placed tensor{{{0, {1}, {3, 3}}}, {}, Reduction::sum};
  const Placed batch{{{0, {0}, {2, 3}}}, {}, Reduction::sum};
  EXPECT_TRUE(close(run(world, fsdp_and_tensor, tensor, batch), one, 1e-12));
}

TEST(Backward, MicroBatchesKeptPendingEqualOneBatch) {
  const Values x = numbers({8, 3}, 1);
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    return Values{{end - begin, 3},
                  std::vector<double>(x.data.begin() + begin * 3, x.data.begin() + end * 3)};
  };
  World world;
  world.mesh = "domain=3";
  run_on(world, [&](Worker& worker, int) {
    const Tensor w = parameter_of(worker, "w", numbers({2, 3}, 2));
    (void)backward(sum(tanh(linear(make(worker, x, cut(0, {5, 0, 3})), w))));
    const Values whole = whole_values(w.gradient());
    w.state().gradient = {};
    (void)backward(sum(tanh(linear(make(worker, part(0, 5), cut(0, {2, 3, 0})), w))), false);
    EXPECT_FALSE(w.gradient().layout()->partial().empty());
    const std::int64_t calls = worker.trace().totals().collectives;
    (void)backward(sum(tanh(linear(make(worker, part(5, 7), cut(0, {0, 1, 1})), w))), false);
    EXPECT_EQ(worker.trace().totals().collectives, calls);
    (void)backward(sum(tanh(linear(make(worker, part(7, 8), cut(0, {0, 0, 1})), w))));
    EXPECT_EQ(worker.trace().totals().collectives, calls + 1);
    EXPECT_TRUE(close(whole_values(w.gradient()), whole, 1e-12));
  });
}

TEST(Backward, AParameterReadTwiceGetsTheSum) {
  World world;
  world.mesh = "domain=3";
  run_on(world, [](Worker& worker, int) {
    const Tensor w = parameter_of(worker, "w", numbers({3}, 2));
    const Tensor x = make(worker, numbers({4, 3}, 1), cut(0, {3, 0, 1}));
    (void)backward(add(sum(multiply(x, w)), sum(w)));
    Values expected{{3}, {1, 1, 1}};
    for (std::int64_t i = 0; i < 12; ++i) expected[i % 3] += numbers({4, 3}, 1)[i];
    EXPECT_TRUE(close(whole_values(w.gradient()), expected, 1e-13));
  });
}

TEST(Backward, AfterAStepParametersAndGradientsAreAllThatIsLive) {
  for (const bool meta : {false, true}) {
    World world;
    world.mesh = "domain=3";
    world.meta = meta;
    run_on(world, [](Worker& worker, int) {
      const Tensor w = parameter_of(worker, "w", numbers({20, 8}, 1), cut(0, {9, 0, 11}), {});
      const Tensor v = parameter_of(worker, "v", numbers({4, 20}, 2));
      const Tensor b = parameter_of(worker, "b", numbers({4}, 3));
      const Ledger& ledger = worker.backend().ledger();
      const std::int64_t parameters = ledger.live();
      EXPECT_EQ(ledger.live(Category::parameter), parameters);
      for (int step = 0; step < 3; ++step) {
        const Tensor x = make(worker, numbers({10, 8}, 4), cut(0, {3, 4, 3}));
        (void)backward(mean_square(linear(gelu(linear(x, w)), v, b)));
        if (step == 1) continue;
        for (const Tensor& parameter : worker.parameters()) {
          (void)ready_view(parameter.gradient());
        }
      }
      const auto bytes = [](const Tensor& tensor) {
        return engine_bytes(tensor.state().view.shape.count() * 8);
      };
      const std::int64_t gradients =
          bytes(w.gradient()) + bytes(v.gradient()) + bytes(b.gradient());
      EXPECT_EQ(ledger.live() - parameters, gradients);
      EXPECT_EQ(ledger.live(Category::gradient), gradients);
      EXPECT_EQ(ledger.live(Category::activation), 0);
      for (const Tensor& parameter : worker.parameters()) parameter.state().gradient = {};
      EXPECT_EQ(ledger.live(), parameters);
    });
  }
}

TEST(Backward, GradientsThatNobodyReadsEndWell) {
  World world;
  world.mesh = "domain=3";
  for (int round = 0; round < 20; ++round)
    run_on(world, [](Worker& worker, int) {
      const Tensor w = parameter_of(worker, "w", numbers({400, 8}, 1));
      const Tensor x = make(worker, numbers({10, 8}, 4), cut(0, {3, 4, 3}));
      (void)backward(mean_square(linear(x, w)));
      w.state().gradient = {};
      const Tensor after = make(worker, numbers({400, 8}, 9));
      EXPECT_TRUE(same(whole_values(after), numbers({400, 8}, 9)));
      (void)backward(mean_square(linear(x, w)));
    });
}

TEST(Backward, ATrainedStepEqualsOneRankOnEveryLayout) {
  const auto train = [](const World& world, const Placed& stored, const Placed& rows) {
    return on_all(world, [&](Worker& worker) {
      const Tensor w = parameter_of(worker, "w", numbers({5, 3}, 1), stored, {});
      const Tensor m = make(worker, zeros({5, 3}), stored);
      const Tensor v = make(worker, zeros({5, 3}), stored);
      for (int step = 1; step <= 4; ++step) {
        const Tensor x = make(worker, numbers({14, 3}, step), rows);
        (void)backward(mean_square(tanh(linear(x, w))));
        adamw_step(w, w.gradient(), m, v, {}, step);
        w.state().gradient = {};
      }
      return whole_values(w);
    });
  };
  const Values one = train({}, {}, {});
  for (const std::vector<std::int64_t>& rows : kinds_of_rows) {
    EXPECT_TRUE(close(train(four(), {}, cut(0, rows)), one, 1e-10));
    EXPECT_TRUE(close(train(four(), cut(0, {2, 0, 2, 1}), cut(0, rows)), one, 1e-10));
  }
}

}  // namespace
}  // namespace shardlab::test
