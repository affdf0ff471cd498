#include "engine/sim/text_lines.h"

#include <gtest/gtest.h>

namespace shardlab::sim {
namespace {

TEST(TextLines, GivesEachLineItsNumberWithoutEndsColoursAndMarks) {
  Lines lines("\xEF\xBB\xBF first \r\n\n\x1b[4mGPU0\x1b[0m\xC2\xA0X\nlast");
  ASSERT_TRUE(lines.next());
  EXPECT_EQ(lines.text(), " first");
  ASSERT_TRUE(lines.next());
  EXPECT_EQ(lines.text(), "");
  ASSERT_TRUE(lines.next());
  EXPECT_EQ(lines.text(), "GPU0 X");
  EXPECT_EQ(lines.number(), 3);
  ASSERT_TRUE(lines.next());
  EXPECT_EQ(lines.text(), "last");
  EXPECT_FALSE(lines.next());
}

TEST(TextLines, LeavesOutALineThatIsTooLong) {
  const std::string text = std::string(70'000, 'x') + "\nshort";
  Lines lines(text);
  ASSERT_TRUE(lines.next());
  EXPECT_TRUE(lines.too_long());
  EXPECT_EQ(lines.text(), "");
  ASSERT_TRUE(lines.next());
  EXPECT_FALSE(lines.too_long());
  EXPECT_EQ(lines.text(), "short");
}

TEST(TextLines, ReadsWholeNumbersAndNothingElse) {
  EXPECT_EQ(whole_number("-1"), -1);
  EXPECT_EQ(whole_number("17179869184"), 17179869184);
  for (const char* word : {"", "1.5", "12x", "x12", "99999999999999999999", "1 2"})
    EXPECT_FALSE(whole_number(word)) << word;
}

TEST(TextLines, KnowsHowFarAPrintedNumberIsRounded) {
  EXPECT_DOUBLE_EQ(rounded_number("12.90")->half_step, 0.005);
  EXPECT_DOUBLE_EQ(rounded_number("244833")->half_step, 0.5);
  EXPECT_DOUBLE_EQ(rounded_number("1.5e+06")->value, 1.5e6);
  EXPECT_DOUBLE_EQ(rounded_number("1.5e+06")->half_step, 0.05e6);
  for (const char* word : {"", "N/A", "nan", "inf", "-inf", "1,5", "1e999", "1.2.3", "--1"})
    EXPECT_FALSE(rounded_number(word)) << word;
}

TEST(TextLines, QuotesOnlyWhatCanBePrinted) {
  EXPECT_EQ(quote("a\x01\x1b\xff"), "'a??\?'");
  EXPECT_EQ(quote(std::string(100, 'y')), "'" + std::string(60, 'y') + "...'");
}

TEST(TextLines, KeepsTheFirstOdditiesOfAFileThatIsOddEverywhere) {
  std::vector<Oddity> oddities;
  for (int line = 1; line <= 1000; ++line) note(oddities, line, "odd");
  ASSERT_EQ(oddities.size(), 201U);
  EXPECT_EQ(oddities.back().line, 201);
  EXPECT_NE(oddities.back().text.find("not listed"), std::string::npos);
}

}  // namespace
}  // namespace shardlab::sim
