#include "results/finding_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>

#include "results/series_text.h"
#include "results/show.h"

namespace shardlab::results {
namespace {

void add_side(std::vector<std::string>& lines, const Finding& finding, const char* name,
              const std::optional<Evidence>& side) {
  if (!side) return;
  std::string line = fmt::format("{}: {} of {} {}{}", name, side_text(finding, side), side->samples,
                                 finding.subject == Subject::curve ? "size" : "sample",
                                 side->samples == 1 ? "" : "s");
  if (!side->commit.empty()) line += ", commit " + side->commit.substr(0, 12);
  for (const std::string& run : side->runs)
    line += (&run != &side->runs[0] ? " " : side->runs.size() == 1 ? ", run " : ", runs ") + run;
  lines.push_back(std::move(line));
}

}  // namespace

std::string subject_text(const Finding& finding) {
  std::string text = title_of(finding.series);
  if (!finding.series.mesh.empty()) text += ", " + finding.series.mesh;
  if (finding.series.parameters != "{}" && !finding.series.parameters.empty())
    text += " " + parameters_of(finding.series, std::string::npos);
  return fmt::format("{}{}: {}", finding.subject == Subject::curve ? "scaling of " : "", text,
                     finding.metric.name);
}

std::string value_text(const Finding& finding, double value) {
  const char* mark = finding.metric.exact ? "" : mark_of(finding.series);
  const std::string& unit = finding.metric.unit;
  if (unit == "s") return mark + show_seconds(value);
  // What is counted is shown to the last byte, since one byte more is a finding.
  if (unit == "B" && finding.metric.exact) return fmt::format("{:.0f} B", value);
  if (unit == "B") return mark + show_bytes(value);
  const std::string number = finding.metric.exact && value == std::floor(value)
                                 ? fmt::format("{:.0f}", value)
                                 : fmt::format("{}{:.4g}", mark, value);
  return unit.empty() || unit == "1" ? number : number + " " + unit;
}

std::string interval_text(const Finding& finding, const std::optional<Evidence>& side) {
  if (!side || !side->interval || finding.metric.exact) return "";
  const auto [low, high] = *side->interval;
  const char* mark = mark_of(finding.series);
  if (finding.metric.unit == "s") return mark + show_range(low, high);
  if (finding.metric.unit == "B") return mark + show_byte_range(low, high);
  return fmt::format("{}{:.4g} .. {:.4g}", mark, low, high);
}

std::string side_text(const Finding& finding, const std::optional<Evidence>& side) {
  if (!side || side->samples == 0) return "-";
  const std::string value = value_text(finding, side->median);
  const std::string interval = interval_text(finding, side);
  return interval.empty() ? value : fmt::format("{} ({})", value, interval);
}

std::string ratio_text(const Finding& finding) {
  return finding.ratio ? fmt::format("{:+.2f} %", (*finding.ratio - 1) * 100) : "-";
}

std::string ratio_interval_text(const Finding& finding) {
  if (!finding.ratio || !finding.ratio_interval) return "";
  return fmt::format("{:+.2f} .. {:+.2f} %", (finding.ratio_interval->low - 1) * 100,
                     (finding.ratio_interval->high - 1) * 100);
}

std::string change_text(const Finding& finding) {
  const std::string interval = ratio_interval_text(finding);
  return ratio_text(finding) + (interval.empty() ? "" : fmt::format(" ({})", interval));
}

std::vector<std::string> test_text(const Finding& finding) {
  std::vector<std::string> lines;
  if (finding.p) lines.push_back(fmt::format("p {:.3g}, adjusted for all tests", *finding.p));
  if (finding.detectable)
    lines.push_back(fmt::format("a change of {:.2f} % would be found", *finding.detectable * 100));
  return lines;
}

std::string differing_text(const Finding& finding) {
  std::string fields;
  for (const std::string& field : finding.differing) fields += (fields.empty() ? "" : ", ") + field;
  return fields.empty() ? "" : "differs in " + fields;
}

std::vector<std::string> evidence_text(const Finding& finding) {
  std::vector<std::string> lines;
  add_side(lines, finding, "base", finding.base);
  add_side(lines, finding, "new", finding.next);
  for (std::string& line : test_text(finding)) lines.push_back(std::move(line));
  if (std::string differing = differing_text(finding); !differing.empty())
    lines.push_back(std::move(differing));
  for (const std::string& cause : finding.causes) lines.push_back("cause: " + cause);
  return lines;
}

std::vector<std::vector<const Finding*>> by_series(const Comparison& comparison) {
  std::vector<std::vector<const Finding*>> groups;
  std::map<std::string, std::size_t> place;
  for (const Finding& finding : comparison.findings) {
    const auto [at, is_new] = place.emplace(text_of(finding.series), groups.size());
    if (is_new) groups.emplace_back();
    groups[at->second].push_back(&finding);
  }
  return groups;
}

std::string counts_text(const Comparison& comparison) {
  constexpr std::array<Verdict, 8> worst_first{
      Verdict::worse,     Verdict::vanished, Verdict::not_comparable, Verdict::not_enough,
      Verdict::undecided, Verdict::better,   Verdict::added,          Verdict::same};
  std::string text;
  for (const Verdict verdict : worst_first)
    if (const std::int64_t count = comparison.count(verdict); count > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name_of(verdict));
  return text.empty() ? "nothing to compare" : text;
}

}  // namespace shardlab::results
