#include <gtest/gtest.h>

#include "engine/core/error.h"
#include "results/json.h"

namespace shardlab::results {
namespace {

std::string nested(int levels) {
  return std::string(static_cast<std::size_t>(levels), '[') +
         std::string(static_cast<std::size_t>(levels), ']');
}

TEST(CanonicalJson, OfMoreLevelsThanTheStackHoldsIsRefused) {
  for (const int levels : {200, 300'000}) {
    try {
      (void)canonical_json("{\"a\":" + nested(levels) + "}", "parameters");
      FAIL() << levels;
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::invalid);
      EXPECT_STREQ(error.what(), "parameters: JSON of more than 100 levels");
    }
  }
  const std::string fits = "{\"a\":" + nested(99) + "}";
  EXPECT_EQ(canonical_json(fits, "parameters"), fits);
}

TEST(ToJson, OfStoredTextOfTooManyLevelsShowsItAsText) {
  StoredRun run;
  run.header.state = nested(300'000);
  run.header.variables = nested(2);
  const std::string text = to_json(run);
  EXPECT_NE(text.find("\"state\": \"[[["), std::string::npos);
  EXPECT_EQ(text.find("\"variables\": \""), std::string::npos);
}

}  // namespace
}  // namespace shardlab::results
