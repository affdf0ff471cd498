#include "results/gate_test.h"

#include <gtest/gtest.h>

#include "engine/core/error.h"
#include "tests/results/noise.h"

namespace shardlab::results {
namespace {

/// Neighbours are pairs.
Samples pairs_of(const std::vector<double>& blocks) {
  Samples samples;
  for (std::size_t i = 0; i + 1 < blocks.size(); i += 2) {
    samples.base.push_back(blocks[i]);
    samples.next.push_back(blocks[i + 1]);
  }
  return samples;
}

/// Blocks of 20 ms with a spread of 1 %, each like the one before by half.
Samples recording(std::size_t pairs = 200) {
  return pairs_of(Noise(11).drifting(2 * pairs, 0.020, 0.01, 0.5));
}

TEST(GateTest, NoiseAloneRaisesFewAlarmsAndFivePercentAreFound) {
  const GateQuestion question{.reports = 500};
  const GateRate same = resampled_rate(recording(), 0, question);
  EXPECT_EQ(same.reports, 500);
  EXPECT_LE(same.worse, 5);
  const GateRate slower = resampled_rate(recording(), 0.05, question);
  EXPECT_GE(slower.worse, 450);
  EXPECT_EQ(slower.better, 0);
  EXPECT_LE(slower.interval.low, static_cast<double>(slower.worse) / 500);
  EXPECT_GE(resampled_rate(recording(), -0.05, question).better, 450);
}

TEST(GateTest, MoreIsFoundOfMore) {
  const GateQuestion question{.reports = 200};
  std::int64_t before = -1;
  for (const double slowdown : {0.0, 0.02, 0.04, 0.10}) {
    const std::int64_t found = resampled_rate(recording(), slowdown, question).worse;
    EXPECT_GE(found, before) << slowdown;
    before = found;
  }
  EXPECT_GE(before, 190);
}

// What was recorded one after the other stays so: with levels that last for 40 blocks, pairs of
// neighbours are alike whatever the level; pairs drawn at random would not be.
TEST(GateTest, NeighboursStayNeighbours) {
  std::vector<double> blocks = Noise(3).steps(400, 0.020, 0.002);
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (i / 40 % 2 == 1) blocks[i] *= 2;
  const GateRate slower = resampled_rate(pairs_of(blocks), 0.05, {.reports = 200});
  EXPECT_GE(slower.worse, 190);
}

TEST(GateTest, WholeReportsAreCountedAsOftenAsTheyWereRecorded) {
  EXPECT_EQ(recorded_rate(recording(200), 0, {}).reports, 10);
  EXPECT_EQ(recorded_rate(recording(20), 0, {}).reports, 1);
  EXPECT_EQ(recorded_rate(recording(59), 0, {}).reports, 2);
  EXPECT_GE(recorded_rate(recording(200), 0.1, {}).worse, 9);
}

TEST(GateTest, IsEqualForEqualSeeds) {
  const GateQuestion question{.reports = 300, .seed = 4};
  EXPECT_EQ(resampled_rate(recording(), 0.025, question).worse,
            resampled_rate(recording(), 0.025, question).worse);
}

TEST(GateTest, RefusesWhatCannotBeAReport) {
  EXPECT_THROW(static_cast<void>(resampled_rate(recording(19), 0, {})), Error);
  EXPECT_THROW(static_cast<void>(resampled_rate(recording(), 0, {.pairs = 0})), Error);
  EXPECT_THROW(static_cast<void>(resampled_rate(recording(), 0, {.reports = 0})), Error);
  EXPECT_THROW(static_cast<void>(resampled_rate(recording(), -1, {})), Error);
}

}  // namespace
}  // namespace shardlab::results
