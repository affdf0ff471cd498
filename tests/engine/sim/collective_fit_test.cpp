#include "engine/sim/collective_fit.h"

#include <gtest/gtest.h>

namespace shardlab::sim {
namespace {

CollectiveCurve curve(double factor, int ranks = 2) {
  CollectiveCurve one;
  one.collective = "all_reduce";
  one.ranks = ranks;
  one.hosts = 1;
  one.half_width = 0.1;
  one.points = {{1024, factor * 1e-6}, {4096, factor * 2e-6}, {16384, factor * 4e-6}};
  return one;
}

TEST(CollectiveFitting, TheMedianOfTheProbesReplacesTheCurve) {
  Machine machine;
  machine.collectives = {curve(1)};
  const auto fits = fit_collectives(machine, {curve(2), curve(3), curve(4)}, "three probes");
  ASSERT_EQ(fits.size(), 1U);
  EXPECT_EQ(fits[0].measurements, 3);
  EXPECT_EQ(fits[0].samples, 9);
  EXPECT_EQ(fits[0].refused, "");
  EXPECT_DOUBLE_EQ(fits[0].curve.points[2].second, 12e-6);
  EXPECT_EQ(fits[0].curve.source, Source::user_measured);
  // 1 by 2, 3 and 4 is 1/2, 2/3 and 3/4 off.
  EXPECT_NEAR(*fits[0].before, 2.0 / 3, 1e-9);
  // 3 by 2, 3 and 4: 1/2, 0 and 1/4.
  EXPECT_NEAR(fits[0].after, 0.25, 1e-9);
  // 3.5 by 2, 3 by 3, 2.5 by 4: 3/4, 0 and 3/8.
  EXPECT_NEAR(*fits[0].left_out, 0.375, 1e-9);
}

TEST(CollectiveFitting, TimesThatFallRefuseAMeasurement) {
  CollectiveCurve falls = curve(1);
  falls.points[1].second = 0.8e-6;
  const auto fits = fit_collectives({}, {falls}, "");
  EXPECT_NE(fits.at(0).refused.find("4096 B took 0.8 us"), std::string::npos) << fits[0].refused;
  EXPECT_EQ(fit_collectives({}, {falls, curve(1)}, "").at(0).measurements, 1);
}

TEST(CollectiveFitting, OtherNumbersOfRanksAreFittedApart) {
  EXPECT_EQ(fit_collectives({}, {curve(1, 2), curve(1, 4)}, "").size(), 2U);
  EXPECT_FALSE(fit_collectives({}, {curve(1)}, "").at(0).before);
}

}  // namespace
}  // namespace shardlab::sim
