#include "results/change.h"

#include <cmath>

#include "tests/results/fixture.h"
#include "tests/results/noise.h"

namespace shardlab::results {
namespace {

Judgement judged(const Samples& samples, const ComparisonOptions& options = {},
                 const Metric& metric = step_seconds()) {
  const Change change = change_of(samples);
  return judge(change, metric, change.p, options);
}

/// 20 pairs around a step of 20 ms, the second one `factor` as long; the machine drifts by 5 %
/// under both, and each step has noise of its own.
Samples pairs_of(std::uint64_t seed, double factor, double spread = 0.02) {
  Noise noise(seed);
  Samples samples;
  for (const double machine : noise.drifting(20, 0.02, 0.05, 0.9)) {
    samples.base.push_back(machine * std::exp(spread * noise.normal()));
    samples.next.push_back(factor * machine * std::exp(spread * noise.normal()));
  }
  return samples;
}

TEST(Judge, FindsFivePercentOfTwentyMillisecondsInNineOfTenSetsOfTwentyPairs) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    found += judged(pairs_of(seed, 1.05)).verdict == Verdict::worse ? 1 : 0;
  EXPECT_GE(found, 180);
}

TEST(Judge, SaysWorseOfEqualSidesInLessThanOneOfHundred) {
  int alarms = 0, same = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Verdict verdict = judged(pairs_of(seed, 1)).verdict;
    alarms += verdict == Verdict::worse || verdict == Verdict::better ? 1 : 0;
    same += verdict == Verdict::same ? 1 : 0;
  }
  EXPECT_EQ(alarms, 0);
  EXPECT_GE(same, 80);
}

TEST(Judge, FindsWhatItSaysItWouldFindInFourOfFive) {
  for (const double spread : {0.02, 0.06}) {
    double sum = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed)
      sum += *judge(change_of(pairs_of(seed, 1.03, spread)), step_seconds(), 1, {}).detectable;
    int found = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed)
      found += judged(pairs_of(seed, 1 + sum / 100, spread)).verdict == Verdict::worse ? 1 : 0;
    EXPECT_GE(found, 320 - 32) << spread;  // four deviations
    EXPECT_LE(found, 320 + 50) << spread;
  }
}

TEST(Judge, TellsBetterFromWorseByWhatTheMetricWants) {
  const Samples samples = pairs_of(1, 1.2);
  const Metric rate{"rate", "B/s", false, Better::higher};
  EXPECT_EQ(judged(samples).verdict, Verdict::worse);
  EXPECT_EQ(judged(samples, {}, rate).verdict, Verdict::better);
  EXPECT_EQ(judged({samples.next, samples.base}).verdict, Verdict::better);
  EXPECT_TRUE(contains(judged(samples).reason, "% slower, p ")) << judged(samples).reason;
}

TEST(Judge, ReportsNothingBelowTheFloorOrTheResolution) {
  const Samples samples = pairs_of(1, 1.06, 0.005);
  EXPECT_EQ(judged(samples).verdict, Verdict::worse);
  EXPECT_EQ(judged(samples, {.floor = 0.1}).verdict, Verdict::same);
  const Judgement small = judged(samples, {.least_seconds = 0.01});
  EXPECT_EQ(small.verdict, Verdict::undecided);
  EXPECT_TRUE(contains(small.reason, "less than 0.01 s")) << small.reason;
}

TEST(Judge, HoldsSidesThatRanOneAfterTheOtherToAWiderFloor) {
  Samples samples = pairs_of(1, 1.06, 0.005);
  Noise noise(4);
  samples.base = noise.steps(20, 0.02, 0.005);
  samples.next = noise.steps(20, 0.0212, 0.005);
  samples.taken = Taken::mixed;
  EXPECT_EQ(judged(samples).verdict, Verdict::worse);
  samples.taken = Taken::apart;
  EXPECT_EQ(judged(samples).verdict, Verdict::undecided);
  EXPECT_EQ(judged(samples, {.apart_floor = 0.03}).verdict, Verdict::worse);
}

TEST(Judge, BelievesIterationsOfOneRunOnlyWhereToldSo) {
  Noise noise(5);
  Samples samples{noise.steps(20, 0.02, 0.01), noise.steps(20, 0.03, 0.01), Taken::iterations};
  const Judgement judgement = judged(samples);
  EXPECT_EQ(judgement.verdict, Verdict::undecided);
  EXPECT_TRUE(contains(judgement.reason, "looks slower")) << judgement.reason;
  EXPECT_EQ(judged(samples, {.iterations = true}).verdict, Verdict::worse);
  samples.next = samples.base;
  EXPECT_EQ(judged(samples).verdict, Verdict::undecided) << "nor that nothing changed";
  EXPECT_EQ(judged(samples, {.iterations = true}).verdict, Verdict::same);
}

// 2/252 = 0.0079 is below 0.02, 2/70 = 0.029 is not.
TEST(Judge, NeedsFiveRunsASideAndSaysSo) {
  EXPECT_EQ(least_runs(0.02), 5U);
  EXPECT_EQ(least_runs(0.05), 4U);
  Noise noise(6);
  const Samples four{noise.steps(4, 1, 0.01), noise.steps(4, 2, 0.01), Taken::mixed};
  EXPECT_EQ(judged(four).verdict, Verdict::not_enough);
  EXPECT_TRUE(contains(judged(four).reason, "4 and 4 independent samples")) << judged(four).reason;
  const Samples five{noise.steps(5, 1, 0.01), noise.steps(5, 2, 0.01), Taken::mixed};
  EXPECT_EQ(judged(five).verdict, Verdict::worse);
}

// Of 7 pairs all one way 2 in 2^7 = 0.0156 is below 0.02, 2 in 2^6 = 0.031 is not.
TEST(Judge, NeedsSevenPairsAndSaysSo) {
  EXPECT_EQ(least_pairs(0.02), 7U);
  EXPECT_EQ(least_pairs(0.05), 6U);
  Noise noise(8);
  const Samples six{noise.steps(6, 1, 0.01), noise.steps(6, 2, 0.01), Taken::pairs};
  EXPECT_EQ(judged(six).verdict, Verdict::not_enough);
  const Samples alike{noise.steps(3, 1, 0.0001), noise.steps(3, 1, 0.0001), Taken::pairs};
  EXPECT_EQ(judged(alike).verdict, Verdict::not_enough) << "chance alone makes three near to 1";
  EXPECT_EQ(judged(six).reason, "6 pairs reach no p below 0.02, 7 can");
  const Samples seven{noise.steps(7, 1, 0.01), noise.steps(7, 2, 0.01), Taken::pairs};
  EXPECT_EQ(judged(seven).verdict, Verdict::worse);
}

TEST(Change, OfManyValuesRestsOnMediansOfBlocks) {
  Noise noise(7);
  const Samples samples{noise.steps(10'000, 1, 0.1), noise.steps(5'000, 1.1, 0.1), Taken::mixed};
  const Change change = change_of(samples);
  EXPECT_EQ(change.base_units, 400);
  EXPECT_LE(change.next_units, 400);
  EXPECT_NEAR(change.ratio.value, 1.1, 0.01);
  EXPECT_LT(change.ratio.interval.high - change.ratio.interval.low, 0.02);
}

}  // namespace
}  // namespace shardlab::results
