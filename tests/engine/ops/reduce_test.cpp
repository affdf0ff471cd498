#include "engine/ops/reduce.h"

#include <numeric>

#include "engine/dispatch/create.h"
#include "tests/support/op_case.h"

namespace shardlab::test {
namespace {

Values sum_of(const Values& x, std::uint32_t mask, bool keep, double factor) {
  Shape shape;
  for (int d = 0; d < x.shape.ndim(); ++d) {
    if ((mask >> d & 1U) == 0)
      shape.push_back(x.shape[d]);
    else if (keep)
      shape.push_back(1);
  }
  Values y = zeros(shape);
  for (std::int64_t i = 0; i < x.shape.count(); ++i) {
    std::int64_t rest = i;
    std::int64_t index = 0;
    std::int64_t stride = 1;
    for (int d = x.shape.ndim() - 1; d >= 0; --d) {
      const std::int64_t at = rest % x.shape[d];
      rest /= x.shape[d];
      if ((mask >> d & 1U) != 0) continue;
      index += at * stride;
      stride *= x.shape[d];
    }
    y[index] += factor * x[i];
  }
  return y;
}

OpCase reduction(std::string name, const Shape& shape, std::vector<int> dims, bool keep,
                 bool average) {
  std::uint32_t mask = 0;
  for (const int dim : dims) mask |= 1U << (dim < 0 ? dim + shape.ndim() : dim);
  if (dims.empty()) mask = (1U << shape.ndim()) - 1;
  double count = 1;
  for (int d = 0; d < shape.ndim(); ++d)
    if ((mask >> d & 1U) != 0) count *= static_cast<double>(shape[d]);
  const double factor = average ? 1 / count : 1;
  OpCase c;
  c.name = std::move(name);
  c.inputs = {{numbers(shape, 5)}};
  c.call = [=](std::span<const Tensor> in) {
    const SumOptions options{dims, keep};
    return std::vector{average ? mean(in[0], options) : sum(in[0], options)};
  };
  c.reference = [=](std::span<const Values> in) {
    return std::vector{sum_of(in[0], mask, keep, factor)};
  };
  c.op = [=] { return make_ref<Sum>(mask, keep); };
  if (!average) c.flop = shape.count();
  return c;
}

INSTANTIATE_TEST_SUITE_P(
    Reduce, OpCases,
    testing::Values(reduction("SumOfAll", {4, 5}, {}, false, false),
                    reduction("SumOfRows", {4, 5}, {0}, false, false),
                    reduction("SumOfTheLastDim", {2, 4, 5}, {-1}, false, false),
                    reduction("SumOfTheMiddleDimKept", {2, 4, 5}, {1}, true, false),
                    reduction("SumOfTheOuterDims", {2, 4, 5}, {0, 1}, true, false),
                    reduction("SumOfTheEnds", {3, 4, 5}, {0, 2}, false, false),
                    reduction("SumOfAScalar", {}, {}, false, false),
                    reduction("SumOfNoRows", {0, 3}, {0}, false, false),
                    reduction("MeanOfAll", {4, 5}, {}, false, true),
                    reduction("MeanOfColumnsKept", {4, 5}, {1}, true, true)),
    name_of_case);

TEST(Reduce, TheMeanOfNothingIsRefused) {
  EXPECT_EQ(error_of({},
                     [](Worker& worker) {
                       (void)mean(make(worker, numbers({0, 3})));
                     }),
            "invalid: rank 0: mean: no elements in [0, 3]");
}

TEST(Reduce, PeersFact3_SumKeptOverADimLeftOfTheCutKeepsTheCut) {
  World world;
  world.mesh = "domain=4";
  const Values x = numbers({4, 16});
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{4, 4, 4, 4}, {2, 3, 4, 7}, {0, 9, 0, 7}}) {
    const Values found = on_all(world, [&](Worker& worker) {
      const Tensor y = sum(make(worker, x, cut(1, sizes)), {{0}, true});
      EXPECT_EQ(y.shape(), (Shape{1, 16}));
      EXPECT_EQ(y.layout(), layout_of(worker, 2, cut(1, sizes)));
      EXPECT_EQ(worker.trace().totals().collectives, 0);
      return whole_values(y);
    });
    EXPECT_TRUE(close(found, sum_of(x, 1, true, 1), 1e-12));
  }
}

TEST(Reduce, PeersFact11_ValueOfAShardedMeanIsTheGlobalOneOnEveryRank) {
  World world;
  world.mesh = "domain=4";
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{3, 3, 3, 3}, {2, 3, 4, 5}, {4, 4, 4, 2}, {0, 7, 0, 7}}) {
    const Values x = numbers({std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0})});
    double expected = 0;
    for (const double value : x.data) expected += value / static_cast<double>(x.data.size());
    for (const double found : on_ranks<double>(
             world, [&](Worker& worker) { return value_of(mean(make(worker, x, cut(0, sizes)))); }))
      EXPECT_NEAR(found, expected, 1e-14);
  }
}

}  // namespace
}  // namespace shardlab::test
