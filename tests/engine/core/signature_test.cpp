#include "engine/core/signature.h"

#include <gtest/gtest.h>

#include "engine/core/error.h"

namespace shardlab {
namespace {

std::string error_of(const Signature& signature, std::vector<Shape> shapes) {
  std::vector<const Shape*> all;
  for (const Shape& shape : shapes) all.push_back(&shape);
  try {
    (void)signature.check_shapes("op", all);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

Shape output_of(const Signature& signature, std::vector<Shape> shapes, int output = 0) {
  std::vector<const Shape*> all;
  for (const Shape& shape : shapes) all.push_back(&shape);
  return signature.output_shape(signature.check_shapes("op", all), output);
}

TEST(Signature, GivesTheOutputShape) {
  EXPECT_EQ(output_of(Signature("m k, k n -> m n"), {{2, 3}, {3, 5}}), (Shape{2, 5}));
  EXPECT_EQ(output_of(Signature("... i, o i -> ... o"), {{7, 2, 3}, {5, 3}}), (Shape{7, 2, 5}));
  EXPECT_EQ(output_of(Signature("... d!, d! -> ... d!, ..."), {{4, 3}, {3}}, 1), Shape{4});
}

TEST(Signature, LeadingDimsBroadcastFromTheInnermostOn) {
  const Signature signature("..., ... -> ...");
  EXPECT_EQ(output_of(signature, {{2, 1, 4}, {3, 1}}), (Shape{2, 3, 4}));
  EXPECT_EQ(output_of(signature, {{}, {3, 1}}), (Shape{3, 1}));
  EXPECT_EQ(output_of(signature, {{0, 3}, {1, 3}}), (Shape{0, 3}));
}

TEST(Signature, EveryErrorNamesOpOperandDimAndBothExtents) {
  EXPECT_EQ(error_of(Signature("m k, k n -> m n"), {{2, 3}, {4, 5}}),
            "op: k is 4 in operand 1, but 3 before");
  EXPECT_EQ(error_of(Signature("m k, k n -> m n"), {{2, 3}}),
            "op: 1 operands given, 'm k, k n -> m n' has 2");
  EXPECT_EQ(error_of(Signature("m k, k n -> m n"), {{2, 3}, {3}}),
            "op: operand 1 has 1 dims, 'm k, k n -> m n' has 2");
  EXPECT_EQ(error_of(Signature("... i, o i -> ... o"), {{}, {4, 5}}),
            "op: operand 0 has 0 dims, '... i, o i -> ... o' has at least 1");
  EXPECT_EQ(error_of(Signature("..., ... -> ..."), {{2, 3}, {2, 4}}),
            "op: dim 1 of operand 1 is 4, which does not broadcast with 3");
}

TEST(Signature, ALetterOnInputsOnlyIsCarriedByNoOutput) {
  const Shape a{2, 3};
  const Shape b{3, 5};
  const std::vector<const Shape*> shapes{&a, &b};
  const Placing placing = Signature("m k, k n -> m n").bind("op", shapes);
  const int k = placing.input[0][1].letter;
  EXPECT_EQ(placing.input[1][0].letter, k);
  EXPECT_NE(placing.output[0][0].letter, k);
  EXPECT_NE(placing.output[0][1].letter, k);
  EXPECT_EQ(placing.letter[k].extent, 3);
}

TEST(Signature, AStretchedExtentCarriesNothing) {
  const Shape a{2, 1};
  const Shape b{2, 4};
  const std::vector<const Shape*> shapes{&a, &b};
  const Placing placing = Signature("..., ... -> ...").bind("op", shapes);
  EXPECT_EQ(placing.input[0][1].letter, -1);
  EXPECT_EQ(placing.input[0][0].letter, placing.input[1][0].letter);
}

TEST(Signature, AnExclamationMarkMakesALetterWhole) {
  const Shape a{2, 3};
  const std::vector<const Shape*> shapes{&a};
  const Placing placing = Signature("r d! -> r d!").bind("op", shapes);
  EXPECT_TRUE(placing.letter[placing.input[0][1].letter].whole);
  EXPECT_FALSE(placing.letter[placing.input[0][0].letter].whole);
}

TEST(DimUse, MapsOffsetsThroughRangesAndFactors) {
  DimUse range;
  range.begin = 2;
  range.end = 7;
  EXPECT_EQ(range.offsets(Split({0, 1, 4, 9})), (std::vector<std::int64_t>{0, 0, 2, 5}));
  DimUse grouped;
  grouped.numerator = 6;
  grouped.denominator = 4;
  EXPECT_EQ(grouped.offsets(Split({0, 2, 4})), (std::vector<std::int64_t>{0, 3, 6}));
  EXPECT_TRUE(grouped.offsets(Split({0, 1, 4})).empty());
}

}  // namespace
}  // namespace shardlab
