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

Placed pending(const AxisList& axes) { return {{}, axes, Reduction::sum}; }

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
    EXPECT_EQ(chunks.state().view.shape[0],
              (std::vector<std::int64_t>{2, 2, 1, 0})[static_cast<std::size_t>(rank)]);
    EXPECT_EQ(gather(chunks).state().view.shape, (Shape{5, 10}));
    EXPECT_TRUE(same(whole_values(chunks), counting({5, 10})));
  });
}

TEST(Redistribute, A02_AllRanksAgreeOnTheGlobalShapeOfUnevenParts) {
  World world;
  world.mesh = "domain=4";
  run_on(world, [](Worker& worker, int rank) {
    const Layout* layout = layout_of(worker, 2, cut(0, {3, 3, 3, 1}));
    Values mine = counting({rank == 3 ? 1 : 3, 2});
    for (double& value : mine.data) value += 6 * rank;
    const Tensor part = from_values(worker, {mine.shape, Dtype::float64, nullptr}, mine.data);
    const Tensor x = whole(part, layout, {10, 2});
    EXPECT_TRUE(same(whole_values(x), counting({10, 2})));
    EXPECT_EQ(value_of(mean(x)), 9.5);
    EXPECT_EQ(sum(x, {{1}, false}).shape(), (Shape{10}));
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
    // The gradient of a slice pads it again.
    for (const std::int64_t at : {0, 1}) {
      const std::vector<Tensor> wrt{make(worker, counting({2}), cut(0, {1, 1, 0, 0}), true)};
      const std::vector<Tensor> y{slice(wrt[0], {0, at, at + 1, 1})};
      const std::vector<Tensor> seed{make(worker, Values{{1}, {3}})};
      const Tensor padded = gradients(y, wrt, seed)[0];
      EXPECT_EQ(padded.layout(), x.layout());
      EXPECT_EQ(whole_values(padded).data,
                at == 0 ? (std::vector<double>{3, 0}) : (std::vector<double>{0, 3}));
    }
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

TEST(Redistribute, A16_FlattenLinearUnflattenOfOneSampleRestoresTheLayoutAndMovesNothing) {
  World square;
  square.mesh = "cp=2,tp=2";
  run_on(square, [](Worker& worker, int) {
    for (const AxisList& axes : {AxisList{0, 1}, AxisList{1, 0}})
      for (const std::vector<std::int64_t>& sizes :
           {std::vector<std::int64_t>{2, 2, 2, 2}, {1, 2, 2, 3}, {0, 4, 1, 3}}) {
        const Tensor x =
            make(worker, numbers({1, 8, 4}, 1), {{{1, axes, sizes}}, {}, Reduction::sum});
        const std::int64_t collectives = worker.trace().totals().collectives;
        const Tensor rows = reshape(x, Shape{8, 4});
        const Tensor y = reshape(linear(rows, make(worker, numbers({4, 4}, 2))), Shape{1, 8, 4});
        EXPECT_EQ(y.layout(), x.layout());
        EXPECT_EQ(worker.trace().totals().collectives, collectives);
      }
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

TEST(Redistribute, B02_APendingValueMadeWholeAndPendingAgainHasTheGradientOfTheDirectPath) {
  World world;
  world.mesh = "domain=2";
  run_on(world, [](Worker& worker, int) {
    const Layout* parts = layout_of(worker, 2, pending({0}));
    const Tensor one = make(worker, Values{{}, {1}});
    for (const Placed& placed : {pending({0}), Placed{}})
      for (const bool direct : {true, false}) {
        const Tensor x = make(worker, numbers({1, 2}), placed, true);
        const Tensor y = direct ? redistribute(x, parts) : redistribute(gather(x), parts);
        EXPECT_EQ(y.layout(), parts);
        const Tensor loss = sum(y);
        EXPECT_NEAR(value_of(loss), numbers({1, 2})[0] + numbers({1, 2})[1], 1e-15);
        const Tensor g = gradients(std::span(&loss, 1), std::span(&x, 1), std::span(&one, 1))[0];
        EXPECT_EQ(whole_values(g).data, (std::vector<double>{1, 1}));
      }
  });
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
