#include "engine/core/dtype.h"

#include <gtest/gtest.h>

#include "engine/core/error.h"

namespace shardlab {
namespace {

TEST(Dtype, WidthsAreThoseOfStorage) {
  EXPECT_EQ(width_of(Dtype::float64), 8);
  EXPECT_EQ(width_of(Dtype::float32), 4);
  EXPECT_EQ(width_of(Dtype::bfloat16), 2);
  EXPECT_EQ(width_of(Dtype::float16), 2);
  EXPECT_EQ(width_of(Dtype::int64), 8);
}

TEST(Precision, EveryNameIsReadBackAsPrinted) {
  for (const char* name : {"float64", "float32", "tf32", "bfloat16", "float16"})
    EXPECT_STREQ(name_of(parse_precision(name)), name);
  EXPECT_EQ(parse_precision("tf32").dtype, Dtype::float32);
}

TEST(Precision, AnUnknownNameListsTheKnownOnes) {
  try {
    (void)parse_precision("double");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::invalid);
    EXPECT_STREQ(error.what(),
                 "unknown dtype 'double': known are float64, float32, tf32, bfloat16, float16");
  }
  EXPECT_THROW((void)parse_precision("int64"), Error);
}

}  // namespace
}  // namespace shardlab
