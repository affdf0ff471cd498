#include "tools/stopping.h"

#include <gtest/gtest.h>

#include "engine/core/error.h"

namespace shardlab::test {
namespace {

/// After how many iterations of these times, repeated, a rule has enough.
std::size_t taken(const StoppingRule& rule, const std::vector<double>& seconds) {
  Stopping stopping(rule);
  std::size_t count = 0;
  while (!stopping.enough() && count < 5000) stopping.add(seconds[count++ % seconds.size()]);
  return count;
}

template <typename Work>
std::string refusal(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(Stopping, TakesTheIterationsThatWereAskedFor) {
  EXPECT_EQ(taken({.iterations = 7}, {100}), 7U);
  Stopping stopping({.iterations = 7});
  stopping.add(1);
  EXPECT_EQ(stopping.left(), 6);
}

TEST(Stopping, TakesThreeToTwentyThatFitTheBudget) {
  EXPECT_EQ(taken({.budget_seconds = 10}, {100}), 3U);
  EXPECT_EQ(taken({.budget_seconds = 10}, {1}), 10U);
  EXPECT_EQ(taken({.budget_seconds = 10}, {0.001}), 20U);
}

// Equal times have an interval of no width. With four of the first five longer, the median of a
// resample is one of the four where most draws are of them: at 10 iterations in 17 of 100
// resamples, at 13 in 7 (Bin(13, 4/13) >= 7), at 17 in 1 (Bin(17, 4/17) >= 9), less than the 2.5
// beyond the interval.
TEST(Stopping, LooksAfterEightIterationsAndThenAQuarterLater) {
  EXPECT_EQ(taken({.precision = 0.01}, {0.001}), 8U);
  Stopping stopping({.precision = 0.01});
  std::size_t count = 0;
  for (const double longer : {1.0, 1.1, 1.2, 1.3, 1.4}) {
    stopping.add(0.001 * longer);
    ++count;
  }
  for (; !stopping.enough(); ++count) stopping.add(0.001);
  EXPECT_EQ(count, 17U);
}

TEST(Stopping, GivesUpWhenTheBudgetIsUsedUpAndSaysSo) {
  const StoppingRule rule{.precision = 0.01, .budget_seconds = 60};
  Stopping stopping(rule);
  while (!stopping.enough()) {
    stopping.add(1);
    stopping.add(2);
  }
  // Of 40 iterations together 60 s; the interval is all of 1 .. 2, half of that is 33 % of 1.5.
  EXPECT_EQ(
      stopping.text(),
      "40 iterations, the median is known to 33 %, not to 1 %: the budget of 60 s is used up");
}

TEST(Stopping, TakesAThousandAtMost) { EXPECT_EQ(taken({.precision = 0.01}, {1e-6, 2e-6}), 1000U); }

TEST(Stopping, RefusesWhatLeavesNothingToDecide) {
  EXPECT_EQ(refusal([] { Stopping({.iterations = -1}); }), "--iterations: -1 is negative");
  EXPECT_EQ(refusal([] { Stopping({.iterations = 3, .precision = 0.01}); }),
            "--iterations and --precision: a number of iterations leaves nothing to decide");
}

TEST(Typed, SharesAndTimesHaveUnits) {
  EXPECT_EQ(share_typed("--p", "1%"), 0.01);
  EXPECT_EQ(share_typed("--p", "0.02"), 0.02);
  EXPECT_EQ(seconds_typed("--b", "10s"), 10);
  EXPECT_EQ(seconds_typed("--b", "500 ms"), 0.5);
  EXPECT_EQ(seconds_typed("--b", "2min"), 120);
  EXPECT_EQ(seconds_typed("--b", "3"), 3);
  EXPECT_EQ(refusal([] { (void)share_typed("--p", "0%"); }), "--p: 0% is not between 0 and 100 %");
  EXPECT_EQ(refusal([] { (void)share_typed("--p", "2s"); }),
            "--p: expected a share such as 1% or 0.01, found '2s'");
  EXPECT_EQ(refusal([] { (void)seconds_typed("--b", "3h"); }),
            "--b: expected a time such as 10s, 500ms or 2min, found '3h'");
  EXPECT_EQ(refusal([] { (void)seconds_typed("--b", "-3s"); }), "--b: -3s is not positive");
}

}  // namespace
}  // namespace shardlab::test
