#include "results/ratio.h"

#include <cmath>
#include <random>

#include "tests/results/fixture.h"
#include "tests/results/noise.h"

namespace shardlab::results {
namespace {

TEST(Ratio, IsThatOfTheMedians) {
  const Ratio ratio = ratio_of(std::vector<double>{2, 1, 100}, std::vector<double>{3, 5, 4, 4});
  EXPECT_EQ(ratio.value, 2);
  EXPECT_EQ(paired_ratio_of(std::vector<double>{1, 2, 4}, std::vector<double>{3, 2, 8}).value, 2);
}

// Ratios of pairs are 1.1 whatever the machine does to both.
TEST(Ratio, OfPairsDoesNotSeeWhatHitsBoth) {
  std::vector<double> base, next;
  for (int i = 0; i < 12; ++i) {
    base.push_back(1 + i * i);
    next.push_back(1.1 * base.back());
  }
  const Ratio ratio = paired_ratio_of(base, next);
  EXPECT_NEAR(ratio.interval.low, 1.1, 1e-12);
  EXPECT_NEAR(ratio.interval.high, 1.1, 1e-12);
  EXPECT_LT(ratio_of(base, next).interval.low, 0.9);
}

TEST(Ratio, IsTheSameTwiceAndNeedsPositiveValuesInPairs) {
  Noise noise(3);
  const auto a = noise.steps(20, 0.02, 0.03), b = noise.steps(20, 0.02, 0.03);
  const Ratio once = ratio_of(a, b), again = ratio_of(a, b);
  EXPECT_EQ(once.interval.low, again.interval.low);
  EXPECT_EQ(once.interval.high, again.interval.high);
  EXPECT_NE(once.interval.high, ratio_of(a, b, {.seed = 2}).interval.high);
  const std::vector<double> one = {1}, two = {1, 2}, zero = {0}, none;
  for (const auto& call :
       std::vector<std::function<void()>>{[&] { static_cast<void>(ratio_of(one, zero)); },
                                          [&] { static_cast<void>(ratio_of(none, one)); },
                                          [&] { static_cast<void>(paired_ratio_of(one, two)); }})
    EXPECT_EQ(error_of(call).fault(), Fault::invalid);
}

TEST(BlockLength, IsOneWhereNeighboursTellNothingAndMoreWhereTheyDo) {
  int longer = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    longer += block_length(Noise(seed).steps(40, 1, 0.05)) > 1 ? 1 : 0;
  EXPECT_LE(longer, 20);  // 5 % of 200 are 10, and 3 deviations 9
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::size_t length = block_length(Noise(seed).drifting(200, 1, 0.05, 0.8));
    EXPECT_GE(length, 5U);
    EXPECT_LE(length, 50U);
  }
  EXPECT_EQ(block_length(std::vector<double>(20, 1)), 1U);
}

TEST(BlockMedians, TakeAllValues) {
  const std::vector<double> values = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(block_medians(values, 3), (std::vector<double>{2, 6}));
  EXPECT_EQ(block_medians(values, 1), values);
  EXPECT_EQ(block_medians(values, 8), (std::vector<double>{4.5}));
}

// Of 1,000 samples, 950 intervals should hold the true ratio; 4 deviations are 28. The percentile
// interval of medians is known to hold it a little more often, because medians take few values.
TEST(Ratio, HoldsTheTrueRatioInAbout95Of100SamplesEachWay) {
  int unpaired = 0, paired = 0, blocks = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Noise noise(seed);
    const auto held = [](const Ratio& ratio) {
      return ratio.interval.low <= 1.25 && 1.25 <= ratio.interval.high ? 1 : 0;
    };
    const Bootstrap options{.resamples = 400};
    unpaired += held(ratio_of(noise.steps(25, 1, 0.1), noise.steps(25, 1.25, 0.1), options));
    auto base = noise.drifting(25, 1, 0.1, 0.9);
    const auto factor = noise.steps(25, 1.25, 0.1);
    auto next = base;
    for (std::size_t i = 0; i < next.size(); ++i) next[i] *= factor[i];
    paired += held(paired_ratio_of(base, next, options));
    blocks += held(
        ratio_of(noise.drifting(120, 1, 0.1, 0.6), noise.drifting(120, 1.25, 0.1, 0.6), options));
  }
  RecordProperty("unpaired", unpaired);
  std::cout << "intervals of 1000 that hold the ratio: unpaired " << unpaired << ", paired "
            << paired << ", in blocks " << blocks << '\n';
  EXPECT_GE(unpaired, 950 - 28);
  EXPECT_GE(paired, 950 - 28);
  // Blocks are known to cover less for so few blocks: 120 values in blocks of about 9.
  EXPECT_GE(blocks, 880);
}

}  // namespace
}  // namespace shardlab::results
