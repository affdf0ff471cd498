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

TEST(Redistribute, A01_FiveRowsOnFourRanksAndBackAreFiveRows) {
  World world;
  world.mesh = "domain=4";
  run_on(world, [](Worker& worker, int rank) {
    const shardlab::Cut rows{"domain", 0, 1};
    const Spec spec = spread(worker, {5, 10}, Dtype::float64, std::span(&rows, 1));
    const Tensor x = make(worker, counting({5, 10}));
    const Tensor y = redistribute(x, spec.layout);
    EXPECT_EQ(y.state().view.shape[0],
              (std::vector<std::int64_t>{2, 1, 1, 1})[static_cast<std::size_t>(rank)]);
    EXPECT_EQ(gather(y).state().view.shape, (Shape{5, 10}));
    EXPECT_TRUE(same(whole_values(y), counting({5, 10})));
    const Tensor chunks = redistribute(x, layout_of(worker, 2, cut(0, {2, 2, 1, 0})));
    EXPECT_EQ(gather(chunks).state().view.shape, (Shape{5, 10}));
  });
}

TEST(Redistribute, A02_AllRanksAgreeOnTheGlobalShapeOfUnevenParts) {
  World world;
  world.mesh = "domain=4";
  run_on(world, [](Worker& worker, int rank) {
    const Layout* layout = layout_of(worker, 2, cut(0, {3, 3, 3, 1}));
    const Values mine = counting({rank == 3 ? 1 : 3, 2});
    const Tensor part = from_values(worker, {mine.shape, Dtype::float64, nullptr}, mine.data);
    EXPECT_EQ(whole(part, layout, {10, 2}).shape(), (Shape{10, 2}));
  });
  EXPECT_NE(error_of(world,
                     [](Worker& worker) {
                       const Tensor part = from_values(worker, {{3, 2}, Dtype::float64, nullptr},
                                                       counting({3, 2}).data);
                       (void)whole(part, layout_of(worker, 2, cut(0, {3, 3, 3, 1})), {10, 2});
                     })
                .find("whole: the part is [3, 2], the layout says [1, 2]"),
            std::string::npos);
}

TEST(Redistribute, A04_ChosenExtentsComeBackInOrder) {
  World world;
  world.mesh = "domain=2";
  run_on(world, [](Worker& worker, int) {
    EXPECT_TRUE(same(whole_values(make(worker, counting({8}), cut(0, {3, 5}))), counting({8})));
  });
}

TEST(Redistribute, A05_AnEmptyPartLosesNoData) {
  World world;
  world.mesh = "domain=30";
  std::vector<std::int64_t> sizes(30, 18);
  sizes[28] = 8;
  sizes[29] = 0;
  run_on(world, [&](Worker& worker, int rank) {
    const Layout* layout = layout_of(worker, 1, cut(0, sizes));
    if (rank == 29) {
      EXPECT_EQ(layout->start(0, worker.coordinates()), 512);
      EXPECT_EQ(layout->extent(0, 512, worker.coordinates()), 0);
    }
    EXPECT_TRUE(same(whole_values(make(worker, counting({512}), cut(0, sizes))), counting({512})));
  });
}

TEST(Redistribute, A07_SlicingALengthOfTwoOnFourRanksAgreesWithDense) {
  World world;
  world.mesh = "domain=4";
  run_on(world, [](Worker& worker, int) {
    const Tensor x = make(worker, counting({2}), cut(0, {1, 1, 0, 0}));
    EXPECT_EQ(whole_values(slice(x, {0, 1, 2, 1})).data, (std::vector<double>{1}));
    EXPECT_EQ(whole_values(slice(x, {0, 0, 1, 1})).data, (std::vector<double>{0}));
    EXPECT_EQ(whole_values(slice(x, {0, 2, 2, 1})).data, (std::vector<double>{}));
  });
}

TEST(Redistribute, A08_AnInnerSplitOfAnOuterPartKeepsTheExtent) {
  World world;
  world.mesh = "data=2,tensor=2";
  run_on(world, [](Worker& worker, int) {
    // The tensor-parallel part of 5 of 10 rows, cut again over the data axis.
    const Placed outer{{{0, {1}, {5, 5}}}, {}, Reduction::sum};
    const Placed both{{{0, {1, 0}, {3, 2, 3, 2}}}, {}, Reduction::sum};
    const Tensor x = make(worker, counting({10, 2}), both);
    const Tensor y = redistribute(x, layout_of(worker, 2, outer));
    EXPECT_EQ(y.state().view.shape, (Shape{5, 2}));
    EXPECT_TRUE(same(local_values(y), local_values(make(worker, counting({10, 2}), outer))));
  });
}

TEST(Redistribute, A10_TwoAxesOnOneDimAreGatheredInSplitOrder) {
  World world;
  world.mesh = "dp=2,tp=2";
  const Placed placed{{{0, {1, 0}, {2, 1, 1, 1}}}, {}, Reduction::sum};
  const std::vector<std::vector<double>> parts = on_ranks<std::vector<double>>(
      world,
      [&](Worker& worker) { return local_values(make(worker, counting({5}), placed)).data; });
  EXPECT_EQ(parts[0], (std::vector<double>{0, 1}));
  EXPECT_EQ(parts[1], (std::vector<double>{3}));
  EXPECT_EQ(parts[2], (std::vector<double>{2}));
  EXPECT_EQ(parts[3], (std::vector<double>{4}));
  EXPECT_EQ(
      on_all(world,
             [&](Worker& worker) { return whole_values(make(worker, counting({5}), placed)); })
          .data,
      (std::vector<double>{0, 1, 2, 3, 4}));
}

TEST(Redistribute, A13_ReduceScatterOfATransposedLookSumsTheLogicalMatrix) {
  World world;
  world.mesh = "domain=2";
  run_on(world, [](Worker& worker, int) {
    const Tensor x = transpose(make(worker, counting({6, 4}), pending({0})), 0, 1);
    EXPECT_FALSE(x.layout()->partial().empty());
    const Tensor y = redistribute(x, layout_of(worker, 2, cut(0, {2, 2})));
    EXPECT_EQ(y.state().view.shape, (Shape{2, 6}));
    Values expected = zeros({4, 6});
    for (std::int64_t i = 0; i < 4; ++i)
      for (std::int64_t j = 0; j < 6; ++j) expected[i * 6 + j] = static_cast<double>(j * 4 + i);
    EXPECT_TRUE(same(whole_values(y), expected));
  });
}

TEST(Redistribute, A16_FlattenLinearUnflattenEqualsDenseWithTheSequenceOnTwoAxes) {
  const auto layer = [](const World& world, const Placed& placed) {
    return on_all(world, [&](Worker& worker) {
      const std::vector<Tensor> wrt{make(worker, numbers({2, 8, 4}, 1), placed, true),
                                    make(worker, numbers({3, 4}, 2), {}, true)};
      const Tensor rows = reshape(wrt[0], Shape{16, 4});
      const std::vector<Tensor> y{reshape(linear(rows, wrt[1]), Shape{2, 8, 3})};
      const std::vector<Tensor> seed{make(worker, numbers({2, 8, 3}, 3))};
      Values all = whole_values(y[0]);
      for (const Tensor& g : gradients(y, wrt, seed)) {
        const Values more = whole_values(g);
        all.data.insert(all.data.end(), more.data.begin(), more.data.end());
      }
      all.shape = {static_cast<std::int64_t>(all.data.size())};
      return all;
    });
  };
  World square;
  square.mesh = "cp=2,tp=2";
  const Values dense = layer({}, {});
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{2, 2, 2, 2}, {1, 2, 2, 3}, {0, 4, 1, 3}})
    EXPECT_TRUE(close(layer(square, {{{1, {0, 1}, sizes}}, {}, Reduction::sum}), dense, 1e-12));
}

TEST(Redistribute, B02_LocalOfAPendingValueIsRefused) {
  World world;
  world.mesh = "domain=2";
  EXPECT_NE(error_of(world,
                     [](Worker& worker) {
                       (void)local(make(worker, numbers({1, 2}), pending({0})));
                     })
                .find("the value is Partial"),
            std::string::npos);
}

TEST(Redistribute, B02_B03_GradientThroughReduceScatterIsNotDivided) {
  World world;
  world.mesh = "domain=2";
  run_on(world, [](Worker& worker, int) {
    const Values w = numbers({4, 3}, 1);
    const std::vector<Tensor> x{make(worker, numbers({2, 4}, 2), cut(1, {3, 1}), true)};
    const Tensor y = linear(x[0], make(worker, Values{{3, 4}, w.data}, cut(1, {3, 1})));
    EXPECT_FALSE(y.layout()->partial().empty());
    const std::vector<Tensor> loss{sum(redistribute(y, layout_of(worker, 2, cut(0, {1, 1}))))};
    const std::vector<Tensor> one{make(worker, Values{{}, {1}})};
    Values expected = zeros({2, 4});
    for (std::int64_t i = 0; i < 8; ++i)
      for (std::int64_t o = 0; o < 3; ++o) expected[i] += w[o * 4 + i % 4];
    EXPECT_TRUE(close(whole_values(gradients(loss, x, one)[0]), expected, 1e-13));
  });
}

TEST(Redistribute, B08_GradientOfASummedLossIsNotMultipliedByRanks) {
  World world;
  world.mesh = "domain=2";
  for (const Placed& placed : {cut(0, {1, 1}), cut(0, {0, 2}), Placed{}}) {
    run_on(world, [&](Worker& worker, int) {
      const std::vector<Tensor> w{make(worker, Values{{}, {1}}, {}, true)};
      const Tensor d = make(worker, Values{{2}, {0, 1}}, placed);
      const std::vector<Tensor> loss{sum(multiply(shift(multiply(w[0], w[0]), 1), d))};
      const std::vector<Tensor> one{make(worker, Values{{}, {1}})};
      EXPECT_EQ(value_of(gradients(loss, w, one)[0]), 2);
    });
  }
}

}  // namespace
}  // namespace shardlab::test
