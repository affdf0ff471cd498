#include "results/rank_test.h"

#include <array>
#include <cmath>
#include <limits>

#include "tests/results/fixture.h"

namespace shardlab::results {
namespace {

/// Sides of m and n values of which `u` pairs have the second one larger.
RankTest with_u(std::size_t m, std::size_t n, std::size_t u) {
  std::vector<double> a, b;
  for (std::size_t i = 1; i <= m; ++i) a.push_back(static_cast<double>(i));
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t below = std::min(m, u);
    u -= below;
    b.push_back(static_cast<double>(below) + 0.5 + 0.001 * static_cast<double>(i));
  }
  return mann_whitney(a, b);
}

/// n differences of sizes 1 .. n whose positive ones sum to `w`.
RankTest with_w(std::size_t n, std::size_t w) {
  std::vector<double> differences;
  for (std::size_t size = n; size > 0; --size) {
    const bool positive = w >= size;
    if (positive) w -= size;
    differences.push_back(positive ? static_cast<double>(size) : -static_cast<double>(size));
  }
  return signed_rank(differences);
}

// One of the C(2n, n) arrangements lies at each end: 2/70, 2/252, 2/924, 2/3432, 2/12870, 2/48620.
TEST(MannWhitney, ReachesTheSmallestPOfItsSampleSizes) {
  const std::array<double, 6> arrangements = {70, 252, 924, 3432, 12870, 48620};
  for (std::size_t i = 0; i < arrangements.size(); ++i) {
    const std::size_t n = i + 4;
    const RankTest test = with_u(n, n, 0);
    EXPECT_TRUE(test.exact);
    EXPECT_EQ(test.statistic, 0);
    EXPECT_NEAR(test.p, 2 / arrangements[i], 1e-15) << n;
    EXPECT_NEAR(least_mann_whitney_p(n, n), 2 / arrangements[i], 1e-12);
  }
  EXPECT_NEAR(with_u(4, 4, 0).p, 0.029, 0.0005);
  EXPECT_NEAR(with_u(5, 5, 0).p, 0.0079, 0.00005);
  EXPECT_NEAR(with_u(6, 6, 0).p, 0.0022, 0.00005);
}

// Critical values of U, two-sided 5 %, as every textbook prints them (Mann and Whitney, 1947, and
// Auble, 1953).
TEST(MannWhitney, AgreesWithTheTableOfCriticalValues) {
  struct Row {
    std::size_t m, n, critical;
  };
  for (const Row row : {Row{4, 4, 0},
                        {5, 5, 2},
                        {6, 6, 5},
                        {7, 7, 8},
                        {8, 8, 13},
                        {9, 9, 17},
                        {10, 10, 23},
                        {15, 15, 64},
                        {20, 20, 127},
                        {3, 5, 0},
                        {5, 8, 6},
                        {8, 10, 17},
                        {10, 20, 55}}) {
    EXPECT_LE(with_u(row.m, row.n, row.critical).p, 0.05) << row.m << " " << row.n;
    EXPECT_GT(with_u(row.m, row.n, row.critical + 1).p, 0.05) << row.m << " " << row.n;
  }
}

// Of {1, 2} and {2, 3}: the six choices of two of the mean ranks 1, 2.5, 2.5, 4 sum to 3.5, 3.5, 5,
// 5, 6.5, 6.5; the observed 6.5 is as far from 5 as four of the six.
TEST(MannWhitney, CountsTiesToo) {
  const RankTest test = mann_whitney(std::vector<double>{1, 2}, std::vector<double>{2, 3});
  EXPECT_EQ(test.statistic, 3.5);
  EXPECT_NEAR(test.p, 4.0 / 6, 1e-15);
  EXPECT_EQ(mann_whitney(std::vector<double>(5, 1), std::vector<double>(5, 1)).p, 1);
}

// At 25 and 25 values the count still lies within 0.003 of the normal distribution, which the test
// goes over to beyond.
TEST(MannWhitney, GoesOverToTheNormalDistributionWhereTheCountIsClose) {
  const auto normal = [](double n, double u) {
    const double z = (n * n / 2 - u - 0.5) / std::sqrt(n * n * (2 * n + 1) / 12);
    return std::erfc(z / std::sqrt(2));
  };
  for (const std::size_t u : {150U, 200U, 250U, 300U}) {
    EXPECT_TRUE(with_u(25, 25, u).exact);
    EXPECT_NEAR(with_u(25, 25, u).p, normal(25, static_cast<double>(u)), 0.003);
    EXPECT_FALSE(with_u(26, 26, u).exact);
    EXPECT_NEAR(with_u(26, 26, u).p, normal(26, static_cast<double>(u)), 1e-12);
  }
  EXPECT_EQ(mann_whitney(std::vector<double>(40, 1), std::vector<double>(40, 1)).p, 1);
}

TEST(MannWhitney, IsTheSameWithSidesExchanged) {
  const std::vector<double> a = {1, 4, 4, 7, 9}, b = {2, 4, 8, 10, 11, 12};
  EXPECT_DOUBLE_EQ(mann_whitney(a, b).p, mann_whitney(b, a).p);
  EXPECT_EQ(mann_whitney(a, b).statistic + mann_whitney(b, a).statistic, 30);
}

TEST(MannWhitney, RefusesWhatHasNoRank) {
  const std::vector<double> one = {1}, none, nan = {std::numeric_limits<double>::quiet_NaN()};
  EXPECT_EQ(error_of([&] { static_cast<void>(mann_whitney(one, none)); }).fault(), Fault::invalid);
  EXPECT_EQ(error_of([&] { static_cast<void>(mann_whitney(one, nan)); }).fault(), Fault::invalid);
  EXPECT_EQ(error_of([&] { static_cast<void>(signed_rank(nan)); }).fault(), Fault::invalid);
}

// Critical values of W, two-sided 5 %: Wilcoxon and Wilcox, Some Rapid Approximate Statistical
// Procedures, 1964.
TEST(SignedRank, AgreesWithTheTableOfCriticalValues) {
  struct Row {
    std::size_t n, critical;
  };
  for (const Row row :
       {Row{6, 0}, {7, 2}, {8, 3}, {9, 5}, {10, 8}, {12, 13}, {15, 25}, {20, 52}, {25, 89}}) {
    EXPECT_LE(with_w(row.n, row.critical).p, 0.05) << row.n;
    EXPECT_GT(with_w(row.n, row.critical + 1).p, 0.05) << row.n;
  }
  EXPECT_NEAR(with_w(10, 0).p, 2.0 / 1024, 1e-15);
  EXPECT_NEAR(least_signed_rank_p(10), 2.0 / 1024, 1e-15);
}

// Sizes 1, 1, 2 have ranks 1.5, 1.5, 3: sums of the eight signs are 0, 1.5, 1.5, 3, 3, 4.5, 4.5, 6.
TEST(SignedRank, CountsTiesAndLeavesZerosOut) {
  const RankTest test = signed_rank(std::vector<double>{1, 0, 1, -2});
  EXPECT_EQ(test.statistic, 3);
  EXPECT_EQ(test.p, 1);
  EXPECT_NEAR(signed_rank(std::vector<double>{1, 1, 2}).p, 2.0 / 8, 1e-15);
  EXPECT_EQ(signed_rank(std::vector<double>{0, 0}).p, 1);
}

TEST(SignedRank, GoesOverToTheNormalDistributionWhereTheCountIsClose) {
  const auto normal = [](double n, double w) {
    const double z = (n * (n + 1) / 4 - w - 0.5) / std::sqrt(n * (n + 1) * (2 * n + 1) / 24);
    return std::erfc(z / std::sqrt(2));
  };
  for (const std::size_t w : {400U, 500U, 600U}) {
    EXPECT_TRUE(with_w(50, w).exact);
    EXPECT_NEAR(with_w(50, w).p, normal(50, static_cast<double>(w)), 0.003);
    EXPECT_FALSE(with_w(51, w).exact);
    EXPECT_NEAR(with_w(51, w).p, normal(51, static_cast<double>(w)), 1e-12);
  }
}

}  // namespace
}  // namespace shardlab::results
