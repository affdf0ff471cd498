#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/support/command.h"

namespace shardlab::test {

/// A folder in which shardlab is typed.
class Typed : public testing::Test {
 protected:
  Ended type(const std::string& words);

  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  /// An exit code together with a part of what stderr says.
  void expect(const std::string& words, int exit, const std::string& text) {
    const Ended ended = type(words);
    EXPECT_EQ(ended.exit, exit) << words << "\n" << ended.err;
    EXPECT_TRUE(has(ended.err, text)) << words << " says:\n" << ended.err;
  }

  /// A word as a shell reads it.
  static std::string quoted(const std::string& word);

  Folder folder_;
};

}  // namespace shardlab::test
