#include "results/page.h"

#include <gtest/gtest.h>

#include "tests/results/comparison_sample.h"

namespace shardlab::results {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A plot of `points` points with a table of as many rows.
Plot plot_of(int points) {
  Plot plot{.title = "plot"};
  plot.x = linear_axis("x", Quantity::count, {static_cast<double>(points)});
  plot.y = linear_axis("y", Quantity::count, {1});
  plot.trails.push_back({.name = "trail"});
  plot.twin.header = {"point", "nothing"};
  for (int i = 0; i < points; ++i) {
    plot.trails[0].marks.push_back({.x = static_cast<double>(i), .y = 1});
    plot.twin.rows.push_back({std::to_string(i), ""});
  }
  return plot;
}

TEST(Page, HoldsVerdictsPlotsTheirTablesAndRuns) {
  Page page{.title = "a & b"};
  page.comparison = sample_comparison();
  page.sections = {{.title = "one", .plots = {plot_of(3)}}};
  page.runs = {{"run"}, {{"17"}}};
  const std::string text = page_of(page);
  for (const char* part :
       {"<title>a &amp; b</title>", "Verdicts", "1 worse", "<svg class=\"plot\"", "<td>2</td>",
        "<td>17</td>", "prefers-color-scheme:dark", "@media print", "name=\"viewport\""})
    EXPECT_TRUE(has(text, part)) << part;
  EXPECT_FALSE(has(text, "<script"));
  EXPECT_FALSE(has(text, ">nothing</th>"));  // No row has anything in that column.
}

TEST(Page, NumbersStandToTheRightAndDatesNamesAndCommitsToTheLeft) {
  Page page;
  page.runs = {{"run", "created", "curve", "step", "commit"},
               {{"17", "2031-02-03T04:05", "~dgx-h100", "~1.5 ms", "3357064a"}}};
  EXPECT_TRUE(has(page_of(page),
                  "<td>17</td><td class=\"text\">2031-02-03T04:05</td><td class=\"text\">~dgx-h100"
                  "</td><td>~1.5 ms</td><td class=\"text\">3357064a</td>"));
}

TEST(Page, CaptionsDoNotRepeatTheTitleOfTheirSection) {
  Page page;
  page.sections = {{.title = "vit", .plots = {plot_of(3)}}};
  page.sections[0].plots[0].title = "Memory: vit";
  EXPECT_TRUE(has(page_of(page), "<figcaption>Memory</figcaption>"));
}

TEST(Page, ASinglePointIsATableOnly) {
  Page page;
  page.sections = {{.title = "one", .plots = {plot_of(1)}}};
  const std::string text = page_of(page);
  EXPECT_FALSE(has(text, "role=\"img\""));
  EXPECT_TRUE(has(text, "<td>0</td>"));
}

TEST(Page, SectionsThatDoNotFitLoseTheirDrawingsAndThenTheirTablesAndAreCounted) {
  Page page;
  const Plot plot = plot_of(1000);
  for (int i = 0; i < 200; ++i)
    page.sections.push_back({.title = "section " + std::to_string(i), .plots = {plot}});
  const std::string text = page_of(page);
  EXPECT_LT(text.size(), most_page + 1000);
  std::size_t drawings = 0;
  std::size_t sections = 0;
  for (std::size_t at = text.find("<section id=\"s"); at != std::string::npos;
       at = text.find("<section id=\"s", at + 1)) {
    ++sections;
    const std::string section = text.substr(at, text.find("</section>", at) - at);
    drawings += has(section, "role=\"img\"") ? 1 : 0;
  }
  EXPECT_GT(drawings, 10U);
  EXPECT_GT(sections, drawings);
  EXPECT_LT(sections, 200U);
  EXPECT_TRUE(has(text, std::to_string(sections - drawings) + " older problems keep their tables"))
      << sections << " " << drawings;
  EXPECT_TRUE(has(text, std::to_string(200 - sections) + " are not shown"));
  EXPECT_TRUE(has(text, "href=\"#s" + std::to_string(sections - 1) + "\""));
  EXPECT_FALSE(has(text, "href=\"#s" + std::to_string(sections) + "\""));
}

}  // namespace
}  // namespace shardlab::results
