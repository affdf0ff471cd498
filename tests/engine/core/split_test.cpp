#include "engine/core/split.h"

#include <gtest/gtest.h>

#include <array>

#include "engine/core/error.h"

namespace shardlab {
namespace {

TEST(Split, EvenPartsDifferByAtMostOneAndLargerOnesComeFirst) {
  EXPECT_EQ(Split::even(10, 4).sizes(), (std::vector<std::int64_t>{3, 3, 2, 2}));
  EXPECT_EQ(Split::even(2, 4).sizes(), (std::vector<std::int64_t>{1, 1, 0, 0}));
  EXPECT_EQ(Split::even(12, 2, 4).sizes(), (std::vector<std::int64_t>{8, 4}));
}

TEST(Split, APartThatIsEmptyStartsWhereTheOthersEnd) {
  const std::vector<std::int64_t> sizes{504, 8, 0};
  const Split split = Split::of_sizes(sizes);
  EXPECT_EQ(split.offset(2), 512);
  EXPECT_EQ(split.size(2), 0);
  EXPECT_EQ(split.total(), 512);
}

TEST(Split, IsUniformOnlyIfAllPartsHaveOneSize) {
  EXPECT_TRUE(Split::even(8, 4).uniform());
  EXPECT_FALSE(Split::even(9, 4).uniform());
  EXPECT_TRUE(Split::even(0, 3).uniform());
}

TEST(Split, CoarsenedKeepsEveryGroupOfParts) {
  const std::vector<std::int64_t> sizes{1, 0, 5, 2};
  EXPECT_EQ(Split::of_sizes(sizes).coarsened(2).sizes(), (std::vector<std::int64_t>{1, 7}));
  EXPECT_THROW((void)Split::of_sizes(sizes).coarsened(3), Error);
}

TEST(Split, RefusesOffsetsThatFallOrDoNotStartAtZero) {
  EXPECT_THROW(Split({0, 3, 2}), Error);
  EXPECT_THROW(Split({1, 3}), Error);
  EXPECT_THROW(Split({0}), Error);
}

TEST(Split, EqualOnesHaveEqualHashes) {
  EXPECT_EQ(Split({0, 2, 5}).hash(), Split({0, 2, 5}).hash());
  EXPECT_NE(Split({0, 2, 5}).hash(), Split({0, 3, 5}).hash());
  EXPECT_FALSE(Split({0, 2, 5}) == Split({0, 3, 5}));
}

TEST(Split, IsPrintedAsSizesOrAsACountOfEqualOnes) {
  EXPECT_EQ(to_string(Split({0, 2, 5, 5})), "2,3,0");
  EXPECT_EQ(to_string(Split::even(1024, 4)), "4x256");
  // Of more than 16 parts, equal neighbours together.
  EXPECT_EQ(to_string(Split::even(15, 16)), "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,0");
  EXPECT_EQ(to_string(Split::even(256, 1024)), "256x1,768x0");
  EXPECT_EQ(to_string(Split::even(35, 17)), "3,16x2");
}

TEST(Split, AnExtentThatIsNoMultipleIsRefusedWithBothNumbers) {
  try {
    (void)Split::even(10, 2, 4);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::invalid);
    EXPECT_STREQ(error.what(), "extent 10 is no multiple of 4");
  }
}

TEST(Split, NestedCutsAreEachAsEvenAsAloneAndCoarsenToTheOuterCut) {
  const std::array<int, 2> groups{2, 2};
  EXPECT_EQ(Split::nested(10, groups).sizes(), (std::vector<std::int64_t>{3, 2, 3, 2}));
  EXPECT_EQ(Split::nested(10, groups).coarsened(2), Split::even(10, 2));
  EXPECT_EQ(Split::nested(3, groups).sizes(), (std::vector<std::int64_t>{1, 1, 1, 0}));
  EXPECT_EQ(Split::nested(2, groups).sizes(), (std::vector<std::int64_t>{1, 0, 1, 0}));
  EXPECT_EQ(Split::nested(40, groups, 4).sizes(), (std::vector<std::int64_t>{12, 8, 12, 8}));
  EXPECT_EQ(Split::nested(7, {}).sizes(), (std::vector<std::int64_t>{7}));
}

}  // namespace
}  // namespace shardlab
