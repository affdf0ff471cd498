#include "engine/ops/cross_entropy.h"

#include <cmath>

#include "engine/dispatch/create.h"
#include "tests/support/op_case.h"

namespace shardlab::test {
namespace {

std::vector<double> row_losses(const Values& logits, const Values& targets,
                               const CrossEntropyOptions& options) {
  const std::int64_t c = logits.shape[logits.shape.ndim() - 1];
  std::vector<double> losses;
  for (std::int64_t row = 0; row < targets.shape.count(); ++row) {
    const auto target = static_cast<std::int64_t>(targets[row]);
    if (options.ignore_index && target == *options.ignore_index) {
      losses.push_back(0);
      continue;
    }
    double sum = 0;
    double mean = 0;
    for (std::int64_t i = 0; i < c; ++i) {
      sum += std::exp(logits[row * c + i]);
      mean += logits[row * c + i] / static_cast<double>(c);
    }
    const double s = options.label_smoothing;
    losses.push_back(std::log(sum) - (1 - s) * logits[row * c + target] - s * mean);
  }
  return losses;
}

OpCase of_rows(std::string name, const Shape& logits, std::vector<double> targets,
               CrossEntropyOptions options, bool average) {
  Shape rows;
  for (int d = 0; d + 1 < logits.ndim(); ++d) rows.push_back(logits[d]);
  OpCase c;
  c.name = std::move(name);
  c.inputs = {{numbers(logits, 5)}, {Values{rows, std::move(targets)}, false, Dtype::int64}};
  c.call = [=](std::span<const Tensor> in) {
    return std::vector{average ? cross_entropy(in[0], in[1], options)
                               : cross_entropy_rows(in[0], in[1], options)};
  };
  c.reference = [=](std::span<const Values> in) {
    const std::vector<double> losses = row_losses(in[0], in[1], options);
    if (!average) return std::vector{Values{rows, losses}};
    double sum = 0;
    double kept = 0;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      sum += losses[i];
      kept += options.ignore_index && in[1].data[i] == static_cast<double>(*options.ignore_index)
                  ? 0
                  : 1;
    }
    return std::vector{Values{{}, {sum / kept}}};
  };
  c.op = [options] { return make_ref<CrossEntropy>(options); };
  return c;
}

INSTANTIATE_TEST_SUITE_P(
    CrossEntropy, OpCases,
    testing::Values(of_rows("Rows", {5, 4}, {0, 3, 1, 2, 2}, {}, false),
                    of_rows("RowsOfThreeDims", {2, 3, 4}, {0, 3, 1, 2, 2, 0}, {}, false),
                    of_rows("Mean", {5, 4}, {0, 3, 1, 2, 2}, {}, true),
                    of_rows("MeanWithSmoothing", {5, 4}, {0, 3, 1, 2, 2}, {0.2, {}}, true),
                    of_rows("MeanOfThoseKept", {6, 4}, {0, 9, 1, 9, 9, 3}, {0.1, 9}, true)),
    name_of_case);

TEST(CrossEntropy, C06_UnequalMasksAreDividedByTheGlobalNumberOfRows) {
  // Rows of losses log 2 on one rank and one kept row on the other: the mean is over kept rows.
  World world;
  world.mesh = "domain=2";
  const Values logits{{4, 2}, {0, 0, 0, 0, 0, 0, 0, std::log(3.0)}};
  const Values targets{{4}, {0, 0, 7, 0}};
  for (const std::vector<std::int64_t>& sizes : {std::vector<std::int64_t>{3, 1}, {1, 3}, {0, 4}})
    for (const double loss : on_ranks<double>(world, [&](Worker& worker) {
           const Tensor x = make(worker, logits, cut(0, sizes));
           const Tensor t = make_of(worker, Dtype::int64, targets, cut(0, sizes));
           return value_of(cross_entropy(x, t, {0, 7}));
         }))
      EXPECT_NEAR(loss, (2 * std::log(2.0) + std::log(4.0)) / 3, 1e-14);
}

TEST(CrossEntropy, ATargetThatIsNoClassIsRefused) {
  EXPECT_NE(error_of({},
                     [](Worker& worker) {
                       (void)cross_entropy(make(worker, numbers({1, 3})),
                                           make_of(worker, Dtype::int64, {{1}, {3}}, {}));
                     }),
            "");
}

TEST(CrossEntropy, TargetsOfAnotherDtypeAreRefused) {
  EXPECT_EQ(
      error_of({},
               [](Worker& worker) {
                 (void)cross_entropy(make(worker, numbers({2, 3})), make(worker, numbers({2})));
               }),
      "invalid: rank 0: cross_entropy: targets are float64, int64 is needed");
}

}  // namespace
}  // namespace shardlab::test
