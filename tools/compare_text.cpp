#include "tools/compare_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "results/finding_text.h"
#include "results/one_line.h"
#include "results/series_text.h"
#include "tools/noted_table.h"
#include "tools/table.h"
#include "tools/wrapped.h"

namespace shardlab {
namespace {

using results::Finding;
using results::Verdict;

constexpr std::size_t most_unchanged = 5;
constexpr std::size_t most_causes = 3;

std::string value_of(const Finding& finding, const std::optional<results::Evidence>& side) {
  return side && side->samples > 0 ? results::value_text(finding, side->median) : "-";
}

std::string names_of(const std::vector<const Finding*>& findings) {
  std::string names;
  for (const Finding* finding : findings)
    names += (names.empty() ? "" : ", ") + finding->metric.name;
  return names;
}

/// A text below a row, with what does not fit on a line farther in.
std::string indented(const std::string& text) {
  std::string lines;
  for (const std::string& line : wrapped(text, page_columns - 8))
    lines += (lines.empty() ? "    " : "        ") + line + "\n";
  return lines;
}

/// A table with the causes of each row below it, and reasons there where they do not fit.
std::string rows_text(const std::vector<const Finding*>& findings) {
  Table table({"verdict", "of", "base", "new", "change"});
  for (const Finding* finding : findings)
    table.row({results::name_of(finding->verdict), finding->metric.name,
               value_of(*finding, finding->base), value_of(*finding, finding->next),
               finding->ratio ? results::change_text(*finding) : ""});
  std::istringstream lines(table.text());
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, line.size());
  std::istringstream again(table.text());
  std::string text, line;
  std::getline(again, line);
  text += line + std::string(widest - line.size(), ' ') + "  why\n";
  for (const Finding* finding : findings) {
    std::getline(again, line);
    const bool fits = widest + 2 + finding->reason.size() <= page_columns;
    text += fits ? line + std::string(widest + 2 - line.size(), ' ') + finding->reason + "\n"
                 : line + "\n" + indented(finding->reason);
    for (std::size_t i = 0; i < std::min(finding->causes.size(), most_causes); ++i)
      text += indented(finding->causes[i]);
  }
  return text;
}

std::string series_text(const std::vector<const Finding*>& findings) {
  const results::SeriesKey& series = findings.front()->series;
  std::string text =
      results::title_of(series) + (series.mesh.empty() ? "" : ", " + series.mesh) + "\n";
  if (const std::string parameters = results::parameters_of(series); !parameters.empty())
    text += fmt::format("  {}\n", parameters);
  std::vector<const Finding*> same, changed;
  for (const Finding* finding : findings)
    (finding->verdict == Verdict::same ? same : changed).push_back(finding);
  if (!changed.empty()) text += rows_text(changed);
  if (!same.empty())
    text += same.size() <= most_unchanged
                ? fmt::format("same: {}\n", names_of(same))
                : fmt::format("same: {} and {} more\n",
                              names_of({same.begin(), same.begin() + most_unchanged}),
                              same.size() - most_unchanged);
  return text;
}

}  // namespace

std::string compare_text(const results::Comparison& comparison) {
  std::string text =
      fmt::format("base: {}\nnew:  {}\n{}\n\n", results::one_line(comparison.base),
                  results::one_line(comparison.next), results::counts_text(comparison));
  std::map<std::string, int> too_few;  // Curves that nobody has to look at, by their reasons.
  for (const auto& group : results::by_series(comparison))
    if (std::ranges::any_of(group, [](const Finding* each) { return results::is_news(*each); }))
      text += series_text(group) + "\n";
    else
      ++too_few[group.front()->reason];
  if (comparison.notes.empty() && too_few.empty()) return text;
  NotedTable notes({"", "notes"});
  for (const std::string& note : comparison.notes) notes.rows({{"-"}}, note);
  for (const auto& [reason, count] : too_few)
    notes.rows({{"-"}}, fmt::format("{} scaling curve{}: not enough data: {}", count,
                                    count == 1 ? "" : "s", reason));
  return text + notes.text();
}

}  // namespace shardlab
