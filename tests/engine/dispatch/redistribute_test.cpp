#include "engine/dispatch/redistribute.h"

#include <algorithm>

#include "engine/dispatch/create.h"
#include "engine/dispatch/dispatch.h"
#include "engine/dispatch/intrinsic.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/linear.h"
#include "engine/ops/permute.h"
#include "engine/ops/reduce.h"
#include "engine/ops/reshape.h"
#include "tests/support/world.h"

namespace shardlab::test {
namespace {

Placed pending(const AxisList& axes, Reduction reduction = Reduction::sum) {
  return {{}, axes, reduction};
}

Placed with_pending(Placed placed, const AxisList& axes) {
  placed.partial = axes;
  return placed;
}

/// Layouts of a [6, 5, 2] tensor on a line of ranks.
std::vector<Placed> line_layouts(int ranks) {
  std::vector<Placed> all{{}, pending({0}), pending({0}, Reduction::max)};
  if (ranks == 3)
    for (const Placed& placed : {cut(0, {2, 2, 2}), cut(0, {1, 2, 3}), cut(0, {6, 0, 0}),
                                 cut(1, {2, 0, 3}), cut(1, {0, 5, 0}), cut(2, {1, 1, 0})})
      all.push_back(placed);
  if (ranks == 4)
    for (const Placed& placed : {cut(0, {2, 2, 1, 1}), cut(0, {0, 3, 0, 3}), cut(1, {2, 1, 0, 2}),
                                 cut(1, {5, 0, 0, 0}), cut(2, {0, 1, 1, 0})})
      all.push_back(placed);
  return all;
}

/// Layouts of a [6, 5, 2] tensor on 2 x 2 ranks.
std::vector<Placed> square_layouts() {
  return {{},
          pending({0}),
          pending({1}),
          pending({0, 1}),
          pending({1, 0}),
          pending({0}, Reduction::max),
          {{{0, {0}, {2, 4}}}, {}, Reduction::sum},
          {{{0, {1}, {3, 3}}}, {}, Reduction::sum},
          {{{1, {1}, {0, 5}}}, {}, Reduction::sum},
          {{{0, {0, 1}, {1, 1, 4, 0}}}, {}, Reduction::sum},
          {{{0, {1, 0}, {1, 2, 3, 0}}}, {}, Reduction::sum},
          {{{0, {0, 1}, {1, 2, 2, 1}}}, {}, Reduction::sum},
          {{{1, {1, 0}, {2, 1, 0, 2}}}, {}, Reduction::sum},
          {{{0, {0}, {2, 4}}, {1, {1}, {3, 2}}}, {}, Reduction::sum},
          {{{0, {1}, {5, 1}}, {2, {0}, {1, 1}}}, {}, Reduction::sum},
          with_pending({{{0, {0}, {2, 4}}}, {}, Reduction::sum}, {1}),
          with_pending({{{1, {1}, {2, 3}}}, {}, Reduction::sum}, {0})};
}

/// Values whose pieces and sums are exact.
Values exact_values() {
  Values values = counting({6, 5, 2});
  for (double& value : values.data) value -= 20;
  return values;
}

bool goes_from_shard_to_partial(const Placed& from, const Placed& to) {
  for (const int axis : to.partial)
    for (const Parts& parts : from.cuts)
      if (parts.axes.contains(axis)) return true;
  return false;
}

/// Moves between all pairs of layouts; the local parts and the value must be those of the target.
void expect_whole_table(const std::string& mesh, const std::vector<Placed>& layouts) {
  World world;
  world.mesh = mesh;
  const Values values = exact_values();
  for (const Placed& from : layouts)
    for (const Placed& to : layouts) {
      const std::string what = mesh + ": " + to_string(from) + " -> " + to_string(to);
      if (goes_from_shard_to_partial(from, to)) {
        const std::string error = error_of(world, [&](Worker& worker) {
          (void)redistribute(make(worker, values, from), layout_of(worker, 3, to));
        });
        EXPECT_EQ(error.substr(0, 11), "unsupported") << what << error;
        continue;
      }
      run_on(world, [&](Worker& worker, int) {
        const Layout* target = layout_of(worker, 3, to);
        const Tensor moved = redistribute(make(worker, values, from), target);
        EXPECT_EQ(moved.layout(), target) << what;
        EXPECT_EQ(moved.state().view.shape, target->local_shape(values.shape, worker.coordinates()))
            << what;
        EXPECT_TRUE(same(whole_values(moved), values)) << what;
        if (to.partial.empty()) {
          EXPECT_TRUE(same(local_values(moved), local_values(make(worker, values, to)))) << what;
        }
      });
    }
}

TEST(Redistribute, EveryPairOfLayoutsOnThreeRanksKeepsTheValue) {
  expect_whole_table("domain=3", line_layouts(3));
}
TEST(Redistribute, EveryPairOfLayoutsOnFourRanksKeepsTheValue) {
  expect_whole_table("domain=4", line_layouts(4));
}
TEST(Redistribute, EveryPairOfLayoutsOnTwoByTwoRanksKeepsTheValue) {
  expect_whole_table("data=2,domain=2", square_layouts());
}

TEST(Redistribute, ReplicateToPendingMaximumKeepsNegativeValues) {
  World world;
  world.mesh = "domain=2";
  run_on(world, [](Worker& worker, int) {
    const Values values{{3}, {-1, -2, -3}};
    const Tensor x = make(worker, values);
    const Tensor y = redistribute(x, layout_of(worker, 1, pending({0}, Reduction::max)));
    EXPECT_TRUE(same(whole_values(y), values));
  });
}

TEST(Redistribute, APendingSumDoesNotBecomeAPendingMaximum) {
  World world;
  world.mesh = "domain=2";
  run_on(world, [](Worker& worker, int) {
    const Values values{{3}, {-1, -2, -3}};
    const Tensor x = make(worker, values, pending({0}));
    const Layout* target = layout_of(worker, 1, pending({0}, Reduction::max));
    const Tensor y = redistribute(x, target);
    EXPECT_EQ(y.layout(), target);
    EXPECT_TRUE(same(whole_values(y), values));
  });
}

std::vector<std::string> calls_of(const Worker& worker, const Trace& trace) {
  (void)worker;
  std::vector<std::string> calls;
  for (const Step& step : trace.steps())
    if (step.kind == Step::Kind::start) calls.emplace_back(step.op);
  return calls;
}

std::vector<std::string> calls_between(const std::string& mesh, const Shape& shape,
                                       const Placed& from, const Placed& to) {
  World world;
  world.mesh = mesh;
  world.meta = true;
  return on_ranks<std::vector<std::string>>(world, [&](Worker& worker) {
    worker.trace().keep(true);
    (void)redistribute(make(worker, numbers(shape), from), layout_of(worker, shape.ndim(), to));
    return calls_of(worker, worker.trace());
  })[0];
}

TEST(Redistribute, EachMoveIsTheOneCollectiveOfTheTable) {
  using Calls = std::vector<std::string>;
  const Placed rows = cut(0, {2, 1, 3});
  const Placed columns = cut(1, {2, 1, 1});
  EXPECT_EQ(calls_between("domain=3", {6, 4}, rows, {}), Calls{"all_gather"});
  EXPECT_EQ(calls_between("domain=3", {6, 4}, pending({0}), {}), Calls{"all_reduce"});
  EXPECT_EQ(calls_between("domain=3", {6, 4}, pending({0}), rows), Calls{"reduce_scatter"});
  EXPECT_EQ(calls_between("domain=3", {6, 4}, pending({0}), columns), Calls{"reduce_scatter"});
  EXPECT_EQ(calls_between("domain=3", {6, 4}, rows, columns), Calls{"all_to_all"});
  EXPECT_EQ(calls_between("domain=3", {6, 4}, rows, cut(0, {3, 1, 2})), Calls{"all_to_all"});
  EXPECT_EQ(calls_between("domain=3", {6, 4}, {}, rows), Calls{});
  EXPECT_EQ(calls_between("domain=3", {6, 4}, {}, pending({0})), Calls{});
}

TEST(Redistribute, APendingSumOverSeveralAxesIsOneCollective) {
  using Calls = std::vector<std::string>;
  EXPECT_EQ(calls_between("data=2,domain=2", {6, 4}, pending({0, 1}), {}), Calls{"all_reduce"});
  EXPECT_EQ(calls_between("data=2,domain=2", {6, 4}, pending({0, 1}),
                          {{{0, {1, 0}, {1, 2, 3, 0}}}, {}, Reduction::sum}),
            Calls{"reduce_scatter"});
}

TEST(Redistribute, AMoveForLaterIsStartedAtOnceAndWaitedForByItsFirstReader) {
  World world;
  world.mesh = "domain=3";
  run_on(world, [](Worker& worker, int) {
    worker.trace().keep(true);
    const auto kinds = [&worker] {
      std::vector<Step::Kind> all;
      for (const Step& step : worker.trace().steps())
        if (step.lane.kind == Lane::Kind::comm) all.push_back(step.kind);
      return all;
    };
    const Tensor sum =
        move_later(make(worker, numbers({6, 4}), pending({0})), worker.layouts().replicated(2));
    EXPECT_EQ(kinds(), (std::vector<Step::Kind>{Step::Kind::start}));
    (void)values_of(sum);
    EXPECT_EQ(kinds(), (std::vector<Step::Kind>{Step::Kind::start, Step::Kind::wait}));
  });
}

TEST(Redistribute, ReplicateToShardIsALookAtMemoryThatIsThere) {
  World world;
  world.mesh = "domain=3";
  run_on(world, [](Worker& worker, int) {
    const Tensor x = make(worker, numbers({6, 4}));
    const std::int64_t live = worker.backend().ledger().live();
    const Tensor y = redistribute(x, layout_of(worker, 2, cut(1, {1, 0, 3})));
    EXPECT_EQ(worker.backend().ledger().live(), live);
    EXPECT_EQ(y.state().buffer, x.state().buffer);
  });
}

TEST(Redistribute, APendingValueIsReducedOnceHoweverManyReadIt) {
  World world;
  world.mesh = "domain=3";
  run_on(world, [](Worker& worker, int) {
    const Tensor x = make(worker, exact_values(), pending({0}));
    const Tensor y = gather(x);
    const Tensor z = gather(x);
    const Tensor product = multiply(x, x);
    EXPECT_EQ(worker.trace().totals().collectives, 1);
    EXPECT_TRUE(same(whole_values(y), whole_values(z)));
    EXPECT_EQ(product.layout(), worker.layouts().replicated(3));
  });
}

TEST(Redistribute, GradientIsTheSameForEveryPairOfLayouts) {
  World world;
  world.mesh = "domain=3";
  const Values values = exact_values();
  const Values seed = numbers(values.shape, 4);
  for (const Placed& from : line_layouts(3))
    for (const Placed& to : line_layouts(3)) {
      if (goes_from_shard_to_partial(from, to)) continue;
      run_on(world, [&](Worker& worker, int) {
        const std::vector<Tensor> x{make(worker, values, from, true)};
        const std::vector<Tensor> y{redistribute(x[0], layout_of(worker, 3, to))};
        const std::vector<Tensor> seeds{make(worker, seed)};
        EXPECT_TRUE(same(whole_values(gradients(y, x, seeds)[0]), seed))
            << to_string(from) << " -> " << to_string(to);
      });
    }
}

TEST(Redistribute, ALayoutOfAnotherExtentIsRefusedWithBothNumbers) {
  World world;
  world.mesh = "domain=2";
  EXPECT_NE(
      error_of(
          world,
          [](Worker& worker) {
            (void)redistribute(make(worker, numbers({6, 4})), layout_of(worker, 2, cut(0, {3, 4})));
          })
          .find("redistribute: dim 0 is 6, the layout cuts 7"),
      std::string::npos);
}

}  // namespace
}  // namespace shardlab::test
