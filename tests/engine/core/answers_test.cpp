#include "engine/core/answers.h"

#include <gtest/gtest.h>

namespace shardlab {
namespace {

std::uint64_t first(const Coordinates& at) { return static_cast<std::uint64_t>(at[0]); }

TEST(Answers, ARankWithOtherAnswersIsToldApart) {
  Answers answers;
  answers.log(1, {2, 0}, first);
  EXPECT_TRUE(answers.same_for({2, 5}));
  EXPECT_FALSE(answers.same_for({3, 0}));
}

TEST(Answers, AQuestionIsLoggedOnceAKey) {
  Answers answers;
  answers.log(1, {2, 0}, first);
  answers.log(1, {2, 0}, first);
  answers.log(2, {2, 0}, [](const Coordinates&) { return std::uint64_t{9}; });
  EXPECT_EQ(answers.size(), 2U);
  EXPECT_TRUE(answers.same_for({2, 0}));
}

TEST(Answers, NoQuestionsMeanThatAllRanksAreAlike) { EXPECT_TRUE(Answers().same_for({4, 4})); }

// Blocks 7 8 9 of three ranks: rank 1 meets 8 7 9, rank 2 meets 9 8 7.
TEST(Answers, TurnsOfARingMayComeInAnotherOrder) {
  const auto block = [](const Coordinates& at, int turn) {
    return static_cast<std::uint64_t>(7 + (at[0] - turn + 3) % 3);
  };
  Answers answers;
  EXPECT_EQ(answers.log_turns(1, {1}, 3, block), 0);
  EXPECT_EQ(answers.log_turns(1, {1}, 3, block), 0);
  EXPECT_EQ(answers.log_turns(2, {1}, 3, block), 1);
  EXPECT_EQ(answers.rings(), 2);
  EXPECT_EQ(answers.turns(0, {2}), (std::vector<std::uint64_t>{9, 8, 7}));
  EXPECT_TRUE(answers.same_for({1}));
  EXPECT_FALSE(answers.same_for({2}));
  EXPECT_TRUE(answers.same_but_for_order({2}));
  answers.log(3, {1}, first);
  EXPECT_FALSE(answers.same_but_for_order({2}));
}

}  // namespace
}  // namespace shardlab
