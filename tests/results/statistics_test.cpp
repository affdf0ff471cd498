#include "results/statistics.h"

#include <cmath>
#include <random>

#include "tests/results/fixture.h"

namespace shardlab::results {
namespace {

TEST(Median, IsTheMiddleValueOrTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(median(std::vector<double>{7}), 7);
  EXPECT_EQ(median(std::vector<double>{9, 1, 5}), 5);
  EXPECT_EQ(median(std::vector<double>{9, 1, 5, 2}), 3.5);
  EXPECT_EQ(median(std::vector<double>{4, 4, 4, 1}), 4);
  EXPECT_EQ(error_of([] { static_cast<void>(median({})); }).fault(), Fault::invalid);
}

// Of 3 values, 7 of the 27 equally likely resamples have the smallest as their median (it is drawn
// 2 or 3 times: 6 + 1), 7 the largest and 13 the middle one.
TEST(BootstrapMedian, CutsWhereTheExactDistributionOfThreeValuesSays) {
  const std::vector<double> values = {3, 1, 2};
  const auto at = [&](double coverage) { return bootstrap_median(values, {.coverage = coverage}); };
  EXPECT_EQ(at(0.95).low, 1);  // 2.5 % < 7/27 = 25.9 %
  EXPECT_EQ(at(0.95).high, 3);
  EXPECT_EQ(at(0.6).low, 1);  // 20 % < 25.9 %
  EXPECT_EQ(at(0.6).high, 3);
  EXPECT_EQ(at(0.4).low, 2);  // 30 % > 25.9 %
  EXPECT_EQ(at(0.4).high, 2);
}

// Of 5 values the smallest is the median of a resample if drawn 3 to 5 times:
// (10 * 16 + 5 * 4 + 1) / 3125 = 5.8 %.
TEST(BootstrapMedian, CutsWhereTheExactDistributionOfFiveValuesSays) {
  const std::vector<double> values = {1, 2, 3, 4, 5};
  EXPECT_EQ(bootstrap_median(values, {.coverage = 0.95}).low, 1);
  EXPECT_EQ(bootstrap_median(values, {.coverage = 0.95}).high, 5);
  EXPECT_EQ(bootstrap_median(values, {.coverage = 0.85}).low, 2);  // 7.5 % > 5.8 %
  EXPECT_EQ(bootstrap_median(values, {.coverage = 0.85}).high, 4);
}

TEST(BootstrapMedian, OfEqualValuesIsThatValue) {
  const auto interval = bootstrap_median(std::vector<double>(9, 2.5));
  EXPECT_EQ(interval.low, 2.5);
  EXPECT_EQ(interval.high, 2.5);
}

TEST(BootstrapMedian, IsTheSameTwiceAndAnotherWithAnotherSeed) {
  std::vector<double> values;
  for (int i = 0; i < 101; ++i) values.push_back(std::sin(i * 1.7));
  const auto a = bootstrap_median(values), b = bootstrap_median(values);
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
  bool differs = false;
  for (std::uint64_t seed = 2; seed < 10; ++seed) {
    const auto c = bootstrap_median(values, {.seed = seed});
    differs = differs || c.low != a.low || c.high != a.high;
  }
  EXPECT_TRUE(differs);
}

// 1,000 samples of 25 from a skewed distribution whose median is 1: about 950 intervals hold it;
// 4 standard deviations are 28.
TEST(BootstrapMedian, HoldsTheTrueMedianInAbout95Of100Samples) {
  std::mt19937_64 random(7);
  const auto uniform = [&] {
    return (static_cast<double>(random() >> 11) + 0.5) / 9007199254740992.0;
  };
  int held = 0;
  for (int i = 0; i < 1000; ++i) {
    std::vector<double> values(25);
    for (double& v : values) {
      const double normal =
          std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform());
      v = std::exp(0.5 * normal);
    }
    const auto interval = bootstrap_median(values, {.resamples = 400});
    if (interval.low <= 1 && 1 <= interval.high) ++held;
  }
  EXPECT_GE(held, 950 - 28);
  EXPECT_LE(held, 950 + 28);
}

TEST(BootstrapMedian, RefusesImpossibleOptions) {
  const std::vector<double> one = {1};
  const auto fault_of = [](std::span<const double> values, const Bootstrap& options) {
    return error_of([&] { static_cast<void>(bootstrap_median(values, options)); }).fault();
  };
  EXPECT_EQ(fault_of({}, {}), Fault::invalid);
  EXPECT_EQ(fault_of(one, {.coverage = 0}), Fault::invalid);
  EXPECT_EQ(fault_of(one, {.coverage = 1}), Fault::invalid);
  EXPECT_EQ(fault_of(one, {.resamples = 0}), Fault::invalid);
  EXPECT_EQ(bootstrap_median(one).low, 1);
}

}  // namespace
}  // namespace shardlab::results
