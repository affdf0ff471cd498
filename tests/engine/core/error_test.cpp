#include "engine/core/error.h"

#include <gtest/gtest.h>

#include "engine/core/check.h"

namespace shardlab {
namespace {

TEST(Error, NamesFaultTextAndThePlaceOfTheCaller) {
  try {
    check(false, "{} is not {}", 1, 2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::invalid);
    EXPECT_STREQ(error.what(), "1 is not 2");
    EXPECT_NE(error.where().find("error_test.cpp:"), std::string::npos);
  }
}

TEST(Error, ExpectIsInternalAndFailTakesItsFault) {
  try {
    expect(false, "broken");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::internal);
  }
  EXPECT_STREQ(name_of(Fault::unsupported), "unsupported");
  EXPECT_NO_THROW(check(true, "fine"));
}

}  // namespace
}  // namespace shardlab
