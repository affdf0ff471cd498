#include "results/turns.h"

#include <gtest/gtest.h>

#include "engine/core/error.h"

namespace shardlab::results {
namespace {

TEST(Turns, StandInTheStateOfARun) {
  const std::string state = with_turns(R"({"load":1.5})", {"pair 1", {1, 1, 3}});
  EXPECT_EQ(state, R"({"load":1.5,"pair":"pair 1","turns":[1,1,3]})");
  const auto turns = turns_of(state);
  ASSERT_TRUE(turns);
  EXPECT_EQ(turns->pair, "pair 1");
  EXPECT_EQ(turns->lengths, (std::vector<std::int64_t>{1, 1, 3}));
  EXPECT_TRUE(turns_of(with_turns("{}", {"p"}))->lengths.empty());
}

TEST(Turns, AreNotReadFromStatesThatHaveNone) {
  for (const char* state : {"", "{}", "[1]", "no JSON", R"({"pair":3})", R"({"turns":[1]})"})
    EXPECT_FALSE(turns_of(state)) << state;
}

// 1.1 in every turn, while the machine doubles its times after each.
TEST(Turns, LeaveOutWhatChangesFromOneTurnToTheNext) {
  const Turns turns{"p", {1, 1, 1, 1}};
  EXPECT_NEAR(
      turn_ratio(std::vector{1.0, 2.0, 4.0, 8.0}, turns, std::vector{1.1, 2.2, 4.4, 8.8}, turns),
      1.1, 1e-12);
}

// Turns of base 2 | 4 4 5 | 6, of next 3 | 4 | 9 9; medians 2 4 6 and 3 4 9; ratios 1.5 1 1.5.
TEST(Turns, AreTheirMediansWhateverTheirLengths) {
  EXPECT_DOUBLE_EQ(turn_ratio(std::vector{2.0, 4.0, 4.0, 5.0, 6.0}, {"p", {1, 3, 1}},
                              std::vector{3.0, 4.0, 9.0, 9.0}, {"p", {1, 1, 2}}),
                   1.5);
  // Of a side that took one turn more, the last has no other.
  EXPECT_DOUBLE_EQ(turn_ratio(std::vector{2.0, 4.0}, {"p", {1, 1}}, std::vector{4.0, 8.0, 100.0},
                              {"p", {1, 1, 1}}),
                   2);
}

// Lengths that do not fit the values: medians of all, 3 and 6.
TEST(Turns, ThatAreNotThoseOfTheValuesAreNotUsed) {
  const std::vector<double> base{1, 3, 5}, next{2, 6, 10};
  for (const std::vector<std::int64_t>& lengths :
       {std::vector<std::int64_t>{}, {1, 1}, {2, 2}, {-1, 4}, {0, 3}, {3, 1}})
    EXPECT_DOUBLE_EQ(turn_ratio(base, {"p", lengths}, next, {"p", lengths}), 2);
  EXPECT_THROW(static_cast<void>(turn_ratio(std::vector{0.0}, {}, next, {})), Error);
}

}  // namespace
}  // namespace shardlab::results
