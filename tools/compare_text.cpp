#include "tools/compare_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tools/curve_text.h"
#include "tools/noted_table.h"
#include "tools/table.h"

namespace shardlab {
namespace {

using results::Finding;
using results::Verdict;

constexpr std::size_t most_unchanged = 3;

std::string value_of(const Finding& finding, const std::optional<results::Evidence>& side) {
  if (!side || side->samples == 0) return "-";
  const char* mark =
      finding.series.execution == results::Execution::predict && !finding.metric.exact ? "~" : "";
  const std::string& unit = finding.metric.unit;
  if (unit == "s") return mark + show_seconds(side->median);
  if (unit == "1" || unit.empty()) return fmt::format("{}{:.4g}", mark, side->median);
  // What is counted is shown to the last byte, since one byte more is a finding.
  if (finding.metric.exact) return fmt::format("{:.0f} {}", side->median, unit);
  return unit == "B" ? mark + show_bytes(side->median)
                     : fmt::format("{}{:.4g} {}", mark, side->median, unit);
}

std::string change_of(const Finding& finding) {
  if (!finding.ratio) return "";
  std::string text = fmt::format("{:+.1f} %", 100 * (*finding.ratio - 1));
  if (finding.ratio_interval)
    text += fmt::format(" ({:+.1f} .. {:+.1f})", 100 * (finding.ratio_interval->low - 1),
                        100 * (finding.ratio_interval->high - 1));
  return text;
}

std::string names_of(const std::vector<const Finding*>& findings) {
  std::string names;
  for (const Finding* finding : findings)
    names += (names.empty() ? "" : ", ") + finding->metric.name;
  return names;
}

std::string series_text(const std::vector<const Finding*>& findings) {
  const results::SeriesKey& series = findings.front()->series;
  std::string text = title_of(series) + (series.mesh.empty() ? "" : ", " + series.mesh) + "\n";
  if (const std::string parameters = parameters_of(series); !parameters.empty())
    text += fmt::format("  {}\n", parameters);
  NotedTable table({"verdict", "of", "base", "new", "change, %", "why"});
  std::vector<const Finding*> same;
  std::size_t shown = 0;
  for (const Finding* finding : findings) {
    if (finding->verdict == Verdict::same) {
      same.push_back(finding);
      continue;
    }
    ++shown;
    table.rows({{results::name_of(finding->verdict), finding->metric.name,
                 value_of(*finding, finding->base), value_of(*finding, finding->next),
                 change_of(*finding)}},
               finding->reason);
    for (const std::string& cause : finding->causes) table.rows({}, "- " + cause);
  }
  if (shown > 0) text += table.text();
  if (!same.empty())
    text += same.size() <= most_unchanged || shown == 0
                ? fmt::format("same: {}\n", names_of(same))
                : fmt::format("same: {} and {} more\n",
                              names_of({same.begin(), same.begin() + most_unchanged}),
                              same.size() - most_unchanged);
  return text;
}

std::string counts_of(const results::Comparison& comparison) {
  constexpr std::array order = {Verdict::worse,      Verdict::vanished,  Verdict::not_comparable,
                                Verdict::not_enough, Verdict::undecided, Verdict::better,
                                Verdict::added,      Verdict::same};
  std::string text;
  for (const Verdict verdict : order)
    if (const std::int64_t count = comparison.count(verdict); count > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, results::name_of(verdict));
  return text.empty() ? "nothing to compare" : text;
}

}  // namespace

std::string compare_text(const results::Comparison& comparison) {
  std::string text = fmt::format("base: {}\nnew:  {}\n{}\n\n", comparison.base, comparison.next,
                                 counts_of(comparison));
  std::vector<std::vector<const Finding*>> groups;
  for (const Finding& finding : comparison.findings) {
    auto group = std::ranges::find_if(
        groups, [&](const auto& g) { return g.front()->series == finding.series; });
    if (group == groups.end()) group = groups.emplace(groups.end());
    group->push_back(&finding);
  }
  for (const auto& group : groups) text += series_text(group) + "\n";
  if (comparison.notes.empty()) return text;
  NotedTable notes({"", "notes"});
  for (const std::string& note : comparison.notes) notes.rows({{"-"}}, note);
  return text + notes.text();
  return text;
}

}  // namespace shardlab
