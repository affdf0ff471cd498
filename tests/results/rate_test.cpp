#include "results/rate.h"

#include <gtest/gtest.h>

#include "engine/core/error.h"

namespace shardlab::results {
namespace {

// Newcombe, Statistics in Medicine 17, 1998, table I, method 3.
TEST(RateInterval, IsThatOfThePublishedTable) {
  const struct {
    std::int64_t hits, trials;
    double low, high;
  } rows[] = {{81, 263, 0.2553, 0.3662},
              {15, 148, 0.0624, 0.1605},
              {0, 20, 0.0000, 0.1611},
              {1, 29, 0.0061, 0.1718}};
  for (const auto& row : rows) {
    const Interval interval = rate_interval(row.hits, row.trials);
    EXPECT_NEAR(interval.low, row.low, 5e-5) << row.hits << " of " << row.trials;
    EXPECT_NEAR(interval.high, row.high, 5e-5) << row.hits << " of " << row.trials;
  }
}

TEST(RateInterval, EndsAtCertainty) {
  EXPECT_EQ(rate_interval(0, 10'000).low, 0);
  EXPECT_EQ(rate_interval(10'000, 10'000).high, 1);
}

TEST(RateInterval, RefusesWhatIsNoRate) {
  EXPECT_THROW(static_cast<void>(rate_interval(0, 0)), Error);
  EXPECT_THROW(static_cast<void>(rate_interval(3, 2)), Error);
  EXPECT_THROW(static_cast<void>(rate_interval(-1, 2)), Error);
}

}  // namespace
}  // namespace shardlab::results
