#include "results/escape.h"

#include <gtest/gtest.h>

namespace shardlab::results {
namespace {

TEST(Escape, MarkupKeepsTextAsText) {
  EXPECT_EQ(markup_text("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
  EXPECT_EQ(markup_text("a\nb"), "a&#10;b");
}

TEST(Escape, WhatIsNoUtf8IsReplaced) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(valid_text("a\xFF"
                       "b"),
            "a" + bad + "b");
  EXPECT_EQ(valid_text("\xC0\xAF"), bad + bad);            // A slash in two bytes.
  EXPECT_EQ(valid_text("\xED\xA0\x80"), bad + bad + bad);  // Half a pair of UTF-16.
  EXPECT_EQ(valid_text("\xE2\x82"), bad + bad);            // Ends too early.
  EXPECT_EQ(valid_text("\xE2\x82\xAC \xF0\x9F\x98\x80"), "\xE2\x82\xAC \xF0\x9F\x98\x80");
  EXPECT_EQ(valid_text(std::string_view("\x01\0\x1B", 3)), bad + bad + bad);
}

TEST(Escape, MarkdownHasNoPunctuationThatMarksUp) {
  const std::string text = markdown_text("|*_`[x](y)<b>#1 @me\\~!{}>-\n");
  EXPECT_EQ(text.find_first_of("|*_`[]<>@\\~!{}-\n"), std::string::npos) << text;
  EXPECT_EQ(markdown_text("1.5 ms"), "1.5 ms");
}

TEST(Escape, AnnotationsEndAtNoLineBreak) {
  EXPECT_EQ(annotation_text("a%\r\nb:c,"), "a%25%0D%0Ab:c,");
  EXPECT_EQ(annotation_property("a:b,c"), "a%3Ab%2Cc");
}

}  // namespace
}  // namespace shardlab::results
