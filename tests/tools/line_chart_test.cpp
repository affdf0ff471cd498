#include "tools/line_chart.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

namespace shardlab {
namespace {

LineChart chart_of(std::vector<double> values) {
  LineChart chart{.values = std::move(values), .first = "first", .last = "last"};
  chart.label = [](double value) { return fmt::format("{:.0f} ms", value); };
  return chart;
}

// 5 values take 6 columns each: 30. The axis goes from 0 to 8 in 9 rows, a millisecond a row, and
// value i stands in the middle of its six columns, which is column 6 i + 3.
TEST(LineChart, DrawsEveryValueLevelAndShiftWhereItBelongs) {
  LineChart chart = chart_of({0, 0, 8, 8, 4});
  chart.levels = {{0, 2, 0}, {2, 4, 8}, {4, 5, 4}};
  EXPECT_EQ(text_of(chart, 120, true),
            " 8 ms +            :--o-----o--:\n"
            "      |            :           :\n"
            "      |            :           :\n"
            "      |            :           :\n"
            " 4 ms +            :           :--o--\n"
            "      |            :           :\n"
            "      |            :           :\n"
            "      |            :           :\n"
            " 0 ms +---o-----o--:           :\n"
            "      +------------------------------\n"
            "                   1           2\n"
            "       first                     last\n");
}

TEST(LineChart, IsNeverWiderThanAsked) {
  for (const std::size_t count : {1, 2, 30, 100, 1000}) {
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i % 7));
    std::istringstream lines(text_of(chart_of(values), 100, true));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  }
}

TEST(LineChart, AnAxisHasAtLeastTheRangeAsked) {
  LineChart chart = chart_of({100, 101});
  chart.least_range = 21;
  const std::string text = text_of(chart, 80, true);
  EXPECT_EQ(text.substr(0, 7), " 111 ms") << text;
  EXPECT_NE(text.find(" 90 ms"), std::string::npos) << text;
}

TEST(LineChart, LabelsOfAnyLengthLeaveTheAxisStraight) {
  LineChart chart = chart_of({0, 1});
  chart.label = [](double value) { return value == 0.5 ? "a half of it" : "x"; };
  std::istringstream lines(text_of(chart, 80, true));
  for (int row = 0; row < 9; ++row) {
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line.find_first_of("+|"), 14U) << line;
  }
}

TEST(LineChart, OfOneValueAndOfNoneIsDrawn) {
  EXPECT_NE(text_of(chart_of({5}), 80, false).find("●"), std::string::npos);
  EXPECT_EQ(text_of(chart_of({}), 80, false), "");
}

TEST(LineChart, UnicodeIsDrawnWhereTheTerminalHasIt) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) unsetenv(name);
  EXPECT_FALSE(speaks_utf8());
  setenv("LANG", "de_DE.UTF-8", 1);
  EXPECT_TRUE(speaks_utf8());
  setenv("LC_ALL", "C", 1);
  EXPECT_FALSE(speaks_utf8());
  setenv("LC_ALL", "C.utf8", 1);
  EXPECT_TRUE(speaks_utf8());
}

}  // namespace
}  // namespace shardlab
