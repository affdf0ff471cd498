#include "engine/core/shape.h"

#include <gtest/gtest.h>

#include "engine/core/error.h"

namespace shardlab {
namespace {

TEST(Shape, CountsOneForAScalarAndZeroWhereADimIsEmpty) {
  EXPECT_EQ(Shape{}.count(), 1);
  EXPECT_EQ((Shape{3, 0, 5}).count(), 0);
  EXPECT_EQ(to_string(Shape{2, 3}), "[2, 3]");
}

TEST(Shape, RefusesNegativeExtentsAndTooManyDims) {
  EXPECT_THROW((Shape{2, -1}), Error);
  EXPECT_THROW((Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}), Error);
}

TEST(Shape, EqualOnesHaveEqualDims) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_FALSE((Shape{2, 3}) == (Shape{2, 3, 1}));
}

TEST(Strides, OfADenseTensorCountInnerElements) {
  const Strides strides = dense_strides({2, 3, 4});
  EXPECT_EQ(strides[0], 12);
  EXPECT_EQ(strides[1], 4);
  EXPECT_EQ(strides[2], 1);
}

TEST(Strides, DimsOfOneAndEmptyTensorsHaveNoSayInDensity) {
  EXPECT_TRUE(is_dense({2, 1, 4}, {4, 99, 1}));
  EXPECT_FALSE(is_dense({2, 4}, {5, 1}));
  EXPECT_FALSE(is_dense({4, 2}, {1, 4}));
  EXPECT_TRUE(is_dense({0, 4}, {1, 7}));
  EXPECT_TRUE(is_dense({4, 0}, {1, 7}));
  EXPECT_TRUE(is_dense({}, {}));
}

TEST(ResolveDim, CountsFromTheEndAndNamesWhatAsked) {
  EXPECT_EQ(resolve_dim(-1, 3, "sum"), 2);
  try {
    (void)resolve_dim(3, 3, "sum");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "sum: no dim 3 in a tensor of 3 dims");
  }
}

}  // namespace
}  // namespace shardlab
