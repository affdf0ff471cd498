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

}  // namespace
}  // namespace shardlab
