#include "results/sample_shape.h"

#include <cmath>
#include <limits>
#include <random>

#include "engine/core/check.h"
#include "tests/results/fixture.h"

namespace shardlab::results {
namespace {

/// 1.00, 1.01 ... around which nothing is odd: quartiles of 20 are 1.0475 and 1.1425, three times
/// their distance is 0.285, so that values below 0.7625 and above 1.4275 are outliers.
std::vector<double> steady() {
  std::vector<double> samples;
  for (int i = 0; i < 20; ++i) samples.push_back(1 + 0.01 * i);
  return samples;
}

TEST(SampleShape, OfSteadySamplesIsNotOdd) {
  const SampleShape shape = shape_of(steady());
  EXPECT_FALSE(shape.odd());
  EXPECT_DOUBLE_EQ(shape.median, 1.095);
  EXPECT_EQ(to_text(shape), "");
}

// With a 21st value the quartiles are the 6th and the 16th, 1.05 and 1.15: the fence lies at 1.45.
TEST(SampleShape, NamesOutliersBeyondThreeQuartileRanges) {
  std::vector<double> samples = steady();
  samples.insert(samples.begin(), 1.44);
  EXPECT_FALSE(shape_of(samples).odd());
  samples[0] = 1.46;
  EXPECT_EQ(shape_of(samples).outliers, std::vector<std::size_t>{0});
  samples[0] = 2.2;
  EXPECT_EQ(to_text(shape_of(samples)),
            "1 of 21 samples is an outlier, the farthest 2.00 times the median");
}

TEST(SampleShape, SeesTwoGroupsAndAnOutlierBesideThem) {
  std::vector<double> samples = steady();
  for (int i = 0; i < 5; ++i) samples.push_back(2 + 0.01 * i);
  SampleShape shape = shape_of(samples);
  ASSERT_TRUE(shape.modes.has_value());
  EXPECT_DOUBLE_EQ(shape.modes->low, 1.095);
  EXPECT_DOUBLE_EQ(shape.modes->high, 2.02);
  EXPECT_EQ(shape.modes->above, 5U);
  EXPECT_TRUE(shape.outliers.empty());
  EXPECT_EQ(to_text(shape), "samples fall into two groups, 20 near 1.1 and 5 near 2.02");
  EXPECT_EQ(to_text(shape, [](double seconds) { return fmt::format("{:.0f} ms", 1e3 * seconds); }),
            "samples fall into two groups, 20 near 1095 ms and 5 near 2020 ms");
  samples.push_back(5);  // The median is now that of 1.12 and 1.13.
  shape = shape_of(samples);
  EXPECT_EQ(shape.outliers, std::vector<std::size_t>{25});
  EXPECT_EQ(to_text(shape),
            "samples fall into two groups, 20 near 1.1 and 5 near 2.02; 1 of 26 samples is an "
            "outlier, the farthest 4.44 times the median");
}

TEST(SampleShape, IgnoresGroupsCloserThanTwoPercent) {
  std::vector<double> samples(20, 1.0);
  for (int i = 0; i < 10; ++i) samples.push_back(1.015);
  EXPECT_FALSE(shape_of(samples).odd());
  for (int i = 0; i < 10; ++i) samples[20 + static_cast<std::size_t>(i)] = 1.03;
  EXPECT_TRUE(shape_of(samples).modes.has_value());
}

TEST(SampleShape, SaysNothingOfFewSamples) {
  EXPECT_FALSE(shape_of(std::vector<double>{1, 1, 1, 1, 1, 1, 9}).odd());
  EXPECT_TRUE(shape_of(std::vector<double>{1, 1, 1, 1, 1, 1, 1, 9}).odd());
  EXPECT_FALSE(shape_of({}).odd());
}

TEST(SampleShape, RefusesWhatIsNotANumber) {
  const std::vector<double> samples{1, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_EQ(error_of([&] { static_cast<void>(shape_of(samples)); }).fault(), Fault::invalid);
}

// 2 in 1,000 are expected: of 1,000 trials with 4 standard deviations, at most 8.
TEST(SampleShape, SeldomFindsTwoGroupsInNormalSamples) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal(1, 0.1);
  int found = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    std::vector<double> samples(20);
    for (double& sample : samples) sample = normal(random);
    found += shape_of(samples).modes ? 1 : 0;
  }
  EXPECT_LE(found, 8);
}

}  // namespace
}  // namespace shardlab::results
