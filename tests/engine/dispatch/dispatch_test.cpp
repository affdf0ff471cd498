#include "engine/dispatch/dispatch.h"

#include <chrono>
#include <mutex>

#include "engine/core/error.h"
#include "engine/dispatch/create.h"
#include "engine/dispatch/intrinsic.h"
#include "engine/dispatch/redistribute.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/linear.h"
#include "engine/ops/reduce.h"
#include "engine/ops/reshape.h"
#include "tests/support/world.h"

namespace shardlab::test {
namespace {

/// The error text that each rank found by itself.
std::vector<std::string> errors_of_ranks(const World& world,
                                         const std::function<void(Worker&)>& program) {
  return on_ranks<std::string>(world, [&](Worker& worker) -> std::string {
    try {
      program(worker);
    } catch (const Error& error) {
      return std::string(name_of(error.fault())) + ": " + error.what();
    }
    return "no error";
  });
}

void expect_refused_alike(const std::string& text, const std::function<void(Worker&)>& program) {
  World world;
  world.mesh = "domain=4";
  for (const bool meta : {false, true}) {
    world.meta = meta;
    for (const std::string& error : errors_of_ranks(world, program)) EXPECT_EQ(error, text);
  }
}

const Placed ragged = cut(0, {2, 3, 0, 5});

TEST(Dispatch, ARefusalIsTheSameOnAllRanksAndNoRankWaits) {
  expect_refused_alike("invalid: linear: i is 4 in operand 1, but 3 before", [](Worker& worker) {
    (void)linear(make(worker, numbers({10, 3}), ragged), make(worker, numbers({2, 4})));
  });
  expect_refused_alike("invalid: add: dim 0 of operand 1 is 9, which does not broadcast with 10",
                       [](Worker& worker) {
                         (void)add(make(worker, numbers({10, 3}), ragged),
                                   make(worker, numbers({9, 3}), cut(0, {2, 3, 0, 4})));
                       });
  expect_refused_alike("invalid: reshape: [10, 3] has 30 elements, [7, 4] has 28",
                       [](Worker& worker) {
                         (void)reshape(make(worker, numbers({10, 3}), ragged), Shape{7, 4});
                       });
  expect_refused_alike("invalid: slice: 8 .. 11 of dim 0, which is 10", [](Worker& worker) {
    (void)slice(make(worker, numbers({10, 3}), ragged), {0, 8, 11, 1});
  });
  expect_refused_alike("invalid: mean: no elements in [0, 3]", [](Worker& worker) {
    (void)mean(make(worker, numbers({0, 3}), cut(0, {0, 0, 0, 0})));
  });
  expect_refused_alike("invalid: gradients: the outputs do not reach tensor 0", [](Worker& worker) {
    const Tensor x = make(worker, numbers({10}), ragged, true);
    const Tensor y = make(worker, numbers({10}), ragged, true);
    const Tensor z = exp(y);
    const Tensor seed = make(worker, numbers({10}));
    (void)gradients(std::span(&z, 1), std::span(&x, 1), std::span(&seed, 1));
  });
}

TEST(Dispatch, MixingAPartOfThisRankWithAWholeTensorIsRefused) {
  expect_refused_alike("invalid: add: mixes 1 tensors of this rank with 1 whole ones",
                       [](Worker& worker) {
                         const Tensor x = make(worker, numbers({10}), ragged);
                         (void)add(x, local(x));
                       });
}

TEST(Dispatch, PartsOfThisRankAreComputedWithoutPlacement) {
  World world;
  world.mesh = "domain=4";
  run_on(world, [](Worker& worker, int) {
    const Tensor x = make(worker, numbers({10, 3}), ragged);
    const Tensor y = exp(local(x));
    EXPECT_EQ(y.layout(), nullptr);
    EXPECT_EQ(y.shape(), x.state().view.shape);
    EXPECT_TRUE(same(whole_values(whole(y, x.layout(), x.shape())), whole_values(exp(x))));
  });
}

TEST(Dispatch, ADtypeWithoutKernelsIsUnsupportedHereAndCountedByMeta) {
  const auto program = [](Worker& worker) {
    const Spec spec{{4, 4}, Dtype::bfloat16, worker.layouts().replicated(2)};
    const Tensor x = allocate(worker, spec, Category::activation);
    (void)linear(x, x);
    return worker.trace().totals().flop;
  };
  EXPECT_EQ(error_of({}, [&](Worker& worker) { (void)program(worker); }).substr(0, 20),
            "unsupported: rank 0:");
  World meta;
  meta.meta = true;
  EXPECT_EQ(on_ranks<std::int64_t>(meta, program)[0], 128);
}

TEST(Dispatch, AValueReadUnderMetaIsUnsupported) {
  World meta;
  meta.meta = true;
  EXPECT_EQ(
      error_of(meta, [](Worker& worker) { (void)value_of(mean(make(worker, numbers({4})))); }),
      "unsupported: rank 0: a value is read, but meta holds none");
}

TEST(Dispatch, PeersFact7_ThreeFiveAndSixRowsOnFourRanks) {
  World world;
  world.mesh = "domain=4";
  for (const std::int64_t rows : {3, 5, 6, 7, 9, 2, 1}) {
    SCOPED_TRACE(rows);
    run_on(world, [&](Worker& worker, int) {
      const shardlab::Cut along{"domain", 0, 1};
      const Spec spec = spread(worker, {rows, 3}, Dtype::float64, std::span(&along, 1));
      const Values values = numbers({rows, 3});
      const Tensor x = make_leaf(from_values(worker, spec, values.data));
      EXPECT_TRUE(same(whole_values(x), values));
      const shardlab::Cut across{"domain", 1, 1};
      const Spec columns = spread(worker, {rows, 3}, Dtype::float64, std::span(&across, 1));
      const Tensor y = redistribute(redistribute(x, columns.layout), spec.layout);
      EXPECT_TRUE(same(whole_values(y), values));
      const Tensor loss = mean(multiply(y, y));
      const Tensor one = full(worker, {{}, Dtype::float64, worker.layouts().replicated(0)}, 1);
      Values expected = values;
      for (double& value : expected.data) value *= 2.0 / static_cast<double>(rows * 3);
      EXPECT_TRUE(close(
          whole_values(gradients(std::span(&loss, 1), std::span(&x, 1), std::span(&one, 1))[0]),
          expected, 1e-14));
    });
  }
}

TEST(Dispatch, OperandsCutThreePlusFiveAndFivePlusThreeEqualDense) {
  World world;
  world.mesh = "domain=2";
  const Values a = numbers({8, 2}, 1);
  const Values b = numbers({8, 2}, 2);
  const Values found = on_all(world, [&](Worker& worker) {
    return whole_values(multiply(make(worker, a, cut(0, {3, 5})), make(worker, b, cut(0, {5, 3}))));
  });
  Values expected = a;
  for (std::int64_t i = 0; i < 16; ++i) expected[i] *= b[i];
  EXPECT_TRUE(same(found, expected));
}

TEST(Dispatch, ASecondCallThatLooksAlikeReusesItsPlan) {
  World world;
  world.mesh = "domain=3";
  run_on(world, [](Worker& worker, int) {
    const Tensor x = make(worker, numbers({9}), cut(0, {2, 3, 4}));
    const Tensor y = multiply(x, x);
    const Spec spec = x.spec();
    const std::array<Operand, 2> operands{Operand{&spec, false}, Operand{&spec, false}};
    const Binary op(Binary::Kind::multiply);
    const Plan* plan = worker.plans().find(PlanCache::key(op, operands));
    ASSERT_NE(plan, nullptr);
    EXPECT_EQ(plan->outputs[0], y.layout());
  });
}

TEST(Dispatch, ThePlanThatWinsReadsAParameterWhereItIsUsed) {
  World world;
  world.mesh = "domain=2";
  run_on(world, [](Worker& worker, int) {
    const Tensor w = parameter_of(worker, "w", numbers({6, 4}), cut(0, {5, 1}), {});
    const Tensor y = linear(make(worker, numbers({8, 4}), cut(0, {3, 5})), w);
    EXPECT_EQ(to_string(*y.layout(), y.shape()), "[8(domain: 3,5), 6]");
    EXPECT_EQ(worker.trace().totals().collectives, 1);
  });
}

TEST(Dispatch, TheSameRunTwiceIsBitwiseEqual) {
  World world;
  world.mesh = "domain=3";
  const auto run = [&] {
    return on_all(world, [](Worker& worker) {
      const Tensor x = make(worker, numbers({31, 7}, 1), cut(0, {10, 0, 21}));
      const Tensor w = make(worker, numbers({5, 7}, 2));
      return whole_values(sum(exp(linear(x, w)), {{0}, false}));
    });
  };
  EXPECT_TRUE(same(run(), run()));
}

}  // namespace
}  // namespace shardlab::test
