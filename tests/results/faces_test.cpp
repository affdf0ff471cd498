#include "results/faces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "tests/results/comparison_sample.h"

namespace shardlab::results {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::int64_t count_of(const std::string& text, const std::string& part) {
  std::int64_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

/// Numeric references back to their characters, as a reader of the face does it.
std::string read_back(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t end = text.find(';', i);
    if (text.compare(i, 2, "&#") == 0 && end != std::string::npos) {
      const int code = std::stoi(text.substr(i + 2, end - i - 2));
      if (code < 128) plain += static_cast<char>(code);
      i = end;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

// The counts of sample_comparison, and its numbers as people read them: 0.021 s is 21 ms, 5 % more
// than 20 ms; 4032 of 4096 bytes are 1.5625 % less.
const char* const counts =
    "1 worse, 1 vanished, 1 not comparable, 1 not enough data, 1 undecided, 1 better, 1 new, 2 "
    "same";
const std::vector<std::string> numbers{
    "20 ms",     "21 ms",      "+5.00 %",    "+3.00 .. +7.00 %", "p 0.0123", "3.40 %",
    "1234 flop", "500 ms",     "700 ms",     "250 ms",           "260 ms",   "125 ms",
    "126 ms",    "4096 B",     "4032 B",     "-1.56 %",          "77",       "512 B",
    "333",       "20 samples", "21 samples", "c0ffee",           "decade",   "0a1b",
    "2c3d",      "processor",  "compiler"};

TEST(Faces, MarkdownSaysAllCountsAndNumbers) {
  const std::string text = read_back(markdown_of(sample_comparison()));
  EXPECT_TRUE(has(text, counts)) << text;
  for (const std::string& number : numbers) EXPECT_TRUE(has(text, number)) << number << text;
}

TEST(Faces, MarkdownTablesSurviveHostileText) {
  const std::string text = markdown_of(sample_comparison());
  EXPECT_FALSE(has(text, "<script") || has(text, "@team") || has(text, "#12 ") ||
               has(text, "`c`") || has(text, "*e*") || has(text, "a\nb"));
  std::int64_t rows = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with('|')) continue;
    ++rows;
    EXPECT_EQ(std::ranges::count(line, '|'), 7) << line;
  }
  EXPECT_EQ(rows, 9 + 2 * 2);  // Findings, and two tables' heads of two lines.
}

TEST(Faces, MarkdownOfManyFindingsCountsWhatIsLeftOut) {
  Comparison many = sample_comparison();
  for (int i = 0; i < 2000; ++i) many.findings.push_back(many.findings.front());
  const std::string text = markdown_of(many);
  EXPECT_LE(text.size(), most_markdown);
  EXPECT_TRUE(has(text, "### shardlab: 2001 worse"));
  std::smatch found;
  ASSERT_TRUE(std::regex_search(text, found, std::regex("(\\d+) lines are left out")));
  // A row and a piece of evidence a finding, and a note.
  EXPECT_EQ(std::stoi(found[1]) + count_of(text, "\n| ") - count_of(text, "\n| verdict") +
                count_of(text, "\n- "),
            2009 * 2 + 1);
  EXPECT_EQ(count_of(text, "<details>"), count_of(text, "</details>"));
}

TEST(Faces, JunitHasASuiteAFamilyAndFailsForWorseOnly) {
  const std::string text = junit_of(sample_comparison());
  EXPECT_TRUE(has(text, "tests=\"9\" failures=\"1\" errors=\"0\" skipped=\"4\"")) << text;
  EXPECT_EQ(count_of(text, "<testsuite "), 6);  // step_seconds, flop, bytes_sent, collectives, ...
  EXPECT_EQ(count_of(text, "<testcase "), 9);
  EXPECT_EQ(count_of(text, "<failure "), 1);
  EXPECT_EQ(count_of(text, "<skipped "), 4);
  EXPECT_TRUE(has(text, "<testsuite name=\"peak_bytes\" tests=\"1\""));
}

TEST(Faces, JunitPropertiesAreTheNumbersOfTheFindings) {
  const std::string text = junit_of(sample_comparison());
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"base_median", "0.02"},
                                                        {"new_median", "0.021"},
                                                        {"ratio_low", "1.03"},
                                                        {"ratio_high", "1.07"},
                                                        {"p", "0.0123"},
                                                        {"detectable", "0.034"},
                                                        {"base_samples", "20"},
                                                        {"new_samples", "21"},
                                                        {"base_median", "1234"},
                                                        {"new_median", "4032"},
                                                        {"differs_in", "compiler"},
                                                        {"base_run", "0a1b"},
                                                        {"ratio", "0.984375"},  // 4032 / 4096
                                                        {"new_median", "77"},
                                                        {"base_median", "512"}})
    EXPECT_TRUE(has(text, "<property name=\"" + name + "\" value=\"" + value + "\"/>"))
        << name << " " << value;
  EXPECT_FALSE(has(text, "<script") || has(text, "a\nb"));
}

TEST(Faces, AnnotationsAreOneLineEachWithCounts) {
  const std::string text = annotations_of(sample_comparison());
  EXPECT_EQ(count_of(text, "::error title="), 1);
  EXPECT_EQ(count_of(text, "::warning title="), 3);  // vanished, not comparable, not enough
  EXPECT_EQ(count_of(text, "::notice title="), 4);   // the counts, undecided, better, new
  EXPECT_EQ(std::ranges::count(text, '\n'), 8);
  EXPECT_TRUE(has(text, std::string(": ") + counts)) << text;
  for (const char* number : {"20 ms -> 21 ms", "+5.00 %25 (+3.00 .. +7.00 %25)", "4096 B -> 4032 B",
                             "p 0.0123", "%0Acause: matmul grew", "500 ms -> 700 ms", "- -> 77"})
    EXPECT_TRUE(has(text, number)) << number;
}

TEST(Faces, AnnotationsBeyondTenAreCounted) {
  Comparison many = sample_comparison();
  for (int i = 0; i < 24; ++i) many.findings.insert(many.findings.begin(), many.findings.front());
  const std::string text = annotations_of(many);
  EXPECT_EQ(count_of(text, "::error title="), 10);
  EXPECT_TRUE(has(text, "::error title=16 more::16 findings")) << text;  // 25 - 9
}

TEST(Faces, AnnotationsEscapeWhatWouldEndThem) {
  Comparison one;
  one.findings = {finding_of(Verdict::worse, step_seconds(), 1, 2)};
  one.findings[0].series.scenario = "a:b,c%d\r\ne";
  one.findings[0].reason = "grew:\r\n5 %";
  const std::string text = annotations_of(one);
  EXPECT_TRUE(has(text, "title=worse%3A step_seconds of a%3Ab%2Cc%25d%0D%0Ae::a:b,c%25d  e"))
      << text;
  EXPECT_TRUE(has(text, "grew:%0D%0A5 %25")) << text;
}

TEST(Faces, HtmlSaysAllCountsAndNumbersAndLetsNoTagThrough) {
  const std::string text = html_of(sample_comparison());
  EXPECT_TRUE(has(text, counts));
  for (const std::string& number : numbers) EXPECT_TRUE(has(text, number)) << number;
  EXPECT_FALSE(has(text, "<script"));
  EXPECT_EQ(count_of(text, "<tr class"), 9);
}

}  // namespace
}  // namespace shardlab::results
