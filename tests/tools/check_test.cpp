#include "tools/check.h"

#include <gtest/gtest.h>

#include <limits>

#include "engine/core/check.h"

namespace shardlab::test {
namespace {

using Kind = Named::Kind;

std::vector<NamedValues> one(Kind kind, std::vector<double> values) {
  return {{kind, "x", std::move(values)}};
}

results::Check compared(Kind kind, const std::vector<double>& values,
                        const std::vector<double>& reference, const std::vector<double>& one_rank,
                        Dtype dtype = Dtype::float32) {
  return compare_values(one(kind, values), one(kind, reference), one(kind, one_rank), dtype)[0];
}

TEST(Check, ErrorIsTheLargestDifferenceOverTheLargestReference) {
  const results::Check check = compared(Kind::output, {1, 2, 4.5}, {1, 2, 4}, {1, 2, 4});
  EXPECT_DOUBLE_EQ(check.error, 0.125);
  EXPECT_EQ(check.bound, 1e-5);
  EXPECT_FALSE(check.passed());
}

TEST(Check, BoundsAreThoseOfDtypeAndKind) {
  EXPECT_EQ(compared(Kind::loss, {1}, {1}, {1}).bound, 1e-5);
  EXPECT_EQ(compared(Kind::gradient, {1}, {1}, {1}).bound, 1e-4);
  EXPECT_EQ(compared(Kind::gradient, {1}, {1}, {1}, Dtype::float64).bound, 1e-10);
}

TEST(Check, AGradientThatOneRankHasNoBetterIsHeldToThatRank) {
  const results::Check same = compared(Kind::gradient, {1.02, 2}, {1, 2}, {1.02, 2});
  EXPECT_EQ(same.name, "gradient x beside one rank");
  EXPECT_EQ(same.bound, 1e-4);
  EXPECT_TRUE(same.passed());
  EXPECT_FALSE(compared(Kind::gradient, {1.021, 2}, {1, 2}, {1.02, 2}).passed());
}

TEST(Check, OutputsLossesAndFloat64AreNeverExcused) {
  for (const Kind kind : {Kind::output, Kind::loss})
    EXPECT_FALSE(compared(kind, {1.02}, {1}, {1.02}).passed());
  EXPECT_FALSE(compared(Kind::gradient, {1.02}, {1}, {1.02}, Dtype::float64).passed());
}

TEST(Check, EqualInfinitiesAgreeAndNaNNeverDoes) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(compared(Kind::output, {-infinity, 1}, {-infinity, 1}, {-infinity, 1}).passed());
  EXPECT_FALSE(compared(Kind::output, {nan, 1}, {0, 1}, {0, 1}).passed());
}

TEST(Check, DifferentTensorsAreABugOfOurs) {
  EXPECT_THROW((void)compare_values(one(Kind::output, {1}), one(Kind::output, {1, 2}),
                                    one(Kind::output, {1}), Dtype::float32),
               Error);
}

}  // namespace
}  // namespace shardlab::test
