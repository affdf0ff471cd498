#include "results/faces.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "results/comparison_json.h"
#include "results/escape.h"
#include "results/finding_text.h"
#include "results/one_line.h"
#include "results/show.h"
#include "tests/results/comparison_sample.h"

namespace shardlab::results {
namespace {

using Json = nlohmann::json;

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

TEST(Faces, ACurveOfTooFewSizesIsNoWarning) {
  Comparison one;
  one.findings = {finding_of(Verdict::not_enough, {"serial_fraction"}, 0, 0)};
  one.findings[0].subject = Subject::curve;
  const std::string text = annotations_of(one);
  EXPECT_FALSE(has(text, "::warning")) << text;
  EXPECT_TRUE(has(text, "::notice title=not enough data%3A serial_fraction")) << text;
}

TEST(Faces, EvidenceIsOneLineWhateverTheParameters) {
  Finding finding = finding_of(Verdict::same, flop(), 8, 8);
  finding.base->samples = 1;
  finding.series.parameters = fmt::format(R"({{"a":"{0}","b":"{0}"}})", std::string(100, 'x'));
  EXPECT_FALSE(has(subject_text(finding), "\n")) << subject_text(finding);
  EXPECT_EQ(evidence_text(finding).at(0), "base: 8 flop of 1 sample, commit c0ffee, run 0a1b");
  EXPECT_EQ(evidence_text(finding).at(1), "new: 8 flop of 21 samples, commit decade, run 2c3d");
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

/// A row of the table of verdicts as a reader sees it, without tags.
struct HtmlRow {
  std::string heading;
  std::vector<std::string> cells = {};  ///< metric, base, new, change, verdict, why.
  bool folded = false;
};

std::string without_tags(const std::string& text) {
  return std::regex_replace(text, std::regex("<[^>]*>"), " ");
}

std::vector<HtmlRow> rows_of(const std::string& html) {
  const std::size_t details = html.find("<details>");
  std::vector<HtmlRow> rows;
  std::string heading;
  for (std::size_t at = html.find("<tr"); at != std::string::npos; at = html.find("<tr", at + 1)) {
    if (html.compare(at, 7, "<tr><th") == 0) continue;
    const std::string row = html.substr(at, html.find("</tr>", at) - at);
    if (row.starts_with("<tr class=\"series\"")) {
      heading = without_tags(row);
      continue;
    }
    rows.push_back({.heading = heading, .folded = at > details});
    for (std::size_t td = row.find("<td"); td != std::string::npos; td = row.find("<td", td + 1))
      rows.back().cells.push_back(without_tags(row.substr(td, row.find("</td>", td) - td)));
  }
  return rows;
}

TEST(Faces, HtmlSaysAllCountsAndNumbersAndLetsNoTagThrough) {
  const std::string text = html_of(sample_comparison());
  EXPECT_TRUE(has(text, counts));
  for (const std::string& number : numbers)
    EXPECT_TRUE(number.ends_with(" samples") || has(without_tags(text), number)) << number;
  EXPECT_TRUE(has(text, "20 and 21 samples"));
  EXPECT_FALSE(has(text, "<script"));
  EXPECT_EQ(rows_of(text).size(), 9U);
}

TEST(Faces, HtmlShowsTheWorstFirstAndFoldsWhatIsTheSame) {
  const std::vector<HtmlRow> rows = rows_of(html_of(sample_comparison()));
  ASSERT_EQ(rows.size(), 9U);
  EXPECT_TRUE(has(rows[0].cells.at(4), "worse"));
  EXPECT_TRUE(has(rows[1].cells.at(4), "vanished"));
  for (const HtmlRow& row : rows) EXPECT_EQ(row.folded, has(row.cells.at(4), "same"));
  const std::string text = html_of(sample_comparison());
  EXPECT_TRUE(has(text, "<details><summary>2 the same</summary>"));
  EXPECT_EQ(count_of(text, "class=\"series\""), 3);  // Two of what is not the same, one of that.
}

TEST(Faces, HtmlCutsCommitsAndUuidsToEightLetters) {
  Comparison one = sample_comparison();
  for (Finding& finding : one.findings)
    if (finding.base) {
      finding.base->commit = "0123456789abcdef0123456789abcdef01234567";
      finding.base->runs = {"fedcba98-7654-3210-fedc-ba9876543210", "aaaabbbb-cccc"};
    }
  one.findings.back().base->runs = {"11112222-3333"};
  const std::string text = html_of(one);
  EXPECT_TRUE(has(text, "commit 01234567, run fedcba98 aaaabbbb; new: commit decade, run 2c3d"));
  EXPECT_TRUE(has(text, "; base: run 11112222</small>")) << text;  // Not that of its heading.
  EXPECT_FALSE(has(text, "012345678") || has(text, "fedcba98-") || has(text, "11112222-"));
}

TEST(Faces, HtmlNamesTheFirstOfManyRuns) {
  Comparison one = sample_comparison();
  for (Finding& finding : one.findings)
    if (finding.base) finding.base->runs = {"a", "b", "c", "d", "e", "f", "g"};
  EXPECT_TRUE(has(html_of(one), "run a b c d e and 2 more;"));
}

TEST(Faces, HtmlOfManyThatAreTheSameCountsWhatIsLeftOut) {
  Comparison many = sample_comparison();
  for (int i = 0; i < 30'000; ++i) {
    many.findings.push_back(finding_of(Verdict::same, dispatches(), 333, 333));
    many.findings.back().series.scenario = "vit" + std::to_string(i);
  }
  const std::string text = html_of(many);
  EXPECT_LT(text.size(), 2'600'000U);
  std::smatch found;
  ASSERT_TRUE(std::regex_search(text, found, std::regex("(\\d+) more that are the same")));
  EXPECT_EQ(std::stoi(found[1]) + count_of(text, "<td>dispatches</td>"), 30'001);
  EXPECT_TRUE(has(text, "30002 the same"));
}

/// A number of a side as people read it; derived from the JSON alone.
std::string shown(const Json& finding, double value) {
  const std::string mark =
      finding["series"]["execution"] == "predict" && !finding["exact"] ? "~" : "";
  if (finding["unit"] == "s") return mark + show_seconds(value);
  std::ostringstream number;
  number << mark << value;
  return number.str() + (finding["unit"] == "1" ? "" : " " + finding["unit"].get<std::string>());
}

std::string percent(double ratio) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%+.2f", (ratio - 1) * 100);
  return text.data();
}

TEST(Faces, EveryNumberOfTheHtmlTableIsThatOfTheJson) {
  Comparison all = sample_comparison();
  for (Finding& finding : all.findings)
    if (!finding.metric.exact)
      for (auto* side : {&finding.base, &finding.next})
        (*side)->interval = Interval{(*side)->median * 0.9, (*side)->median * 1.2};
  Finding predicted = finding_of(Verdict::same, step_seconds(), 2, 2.5);
  predicted.series.execution = Execution::predict;
  predicted.series.machine = "dgx-h100";
  all.findings.push_back(predicted);
  Finding curve =
      finding_of(Verdict::better, {.name = "serial_fraction", .unit = "1"}, 0.25, 0.125);
  curve.subject = Subject::curve;
  curve.series.mesh = "";
  all.findings.push_back(curve);
  const std::vector<HtmlRow> rows = rows_of(html_of(all));
  const Json json = Json::parse(to_json(all));
  EXPECT_EQ(rows.size(), json["findings"].size());
  for (const Json& finding : json["findings"]) {
    const auto scenario =
        without_tags(markup_text(one_line(finding["series"]["scenario"].get<std::string>())));
    const std::string machine = finding["series"]["machine"];
    const auto row = std::ranges::find_if(rows, [&](const HtmlRow& each) {
      return has(each.heading, scenario) && has(each.heading, machine) &&
             has(each.cells.at(0) + " ", finding["metric"].get<std::string>() + " ") &&
             each.cells.at(4) == " " + finding["verdict"].get<std::string>();
    });
    ASSERT_NE(row, rows.end()) << finding;
    for (const auto& [name, cell] : {std::pair("base", 1), {"new", 2}}) {
      const Json& side = finding[name];
      if (side.is_null()) {
        EXPECT_TRUE(row->cells[cell].ends_with("-")) << row->cells[cell];
        continue;
      }
      EXPECT_TRUE(has(row->cells[cell] + " ", " " + shown(finding, side["median"]) + " "))
          << row->cells[cell] << finding;
      if (const Json& range = side["interval"]; !range.is_null() && finding["unit"] == "s") {
        EXPECT_TRUE(has(row->cells[cell], show_range(range["low"], range["high"])))
            << row->cells[cell] << finding;
      }
      const std::string samples = std::to_string(side["samples"].get<int>());
      EXPECT_TRUE(has(row->cells[5], samples + " and") || has(row->cells[5], "and " + samples))
          << row->cells[5] << finding;
      for (const Json& run : side["runs"])
        EXPECT_TRUE(has(row->heading + row->cells[5], run.get<std::string>()));
      EXPECT_TRUE(has(row->heading + row->cells[5], side["commit"].get<std::string>()));
    }
    if (!finding["ratio"].is_null()) {
      EXPECT_TRUE(has(row->cells[3], percent(finding["ratio"]) + " %")) << row->cells[3] << finding;
    }
    if (const Json& range = finding["ratio_interval"]; !range.is_null()) {
      EXPECT_TRUE(has(row->cells[3], percent(range["low"]) + " .. " + percent(range["high"])));
    }
    if (!finding["p"].is_null()) {
      EXPECT_TRUE(has(row->cells[5], "p 0.0123"));
    }
    if (!finding["detectable"].is_null()) {
      EXPECT_TRUE(has(row->cells[5], "3.40 %"));
    }
    for (const char* list : {"differing", "causes"})
      for (const Json& each : finding[list])
        EXPECT_TRUE(has(row->cells[5], without_tags(markup_text(each.get<std::string>()))));
    EXPECT_TRUE(
        has(row->cells[5], without_tags(markup_text(finding["reason"].get<std::string>()))));
  }
}

}  // namespace
}  // namespace shardlab::results
