#include "results/finding_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "results/series_text.h"
#include "results/show.h"

namespace shardlab::results {
namespace {

std::string range_text(const Finding& finding, const Interval& interval) {
  const char* mark = finding.metric.exact ? "" : mark_of(finding.series);
  if (finding.metric.unit == "s") return mark + show_range(interval.low, interval.high);
  if (finding.metric.unit == "B") return mark + show_byte_range(interval.low, interval.high);
  return fmt::format("{}{:.4g} .. {:.4g}", mark, interval.low, interval.high);
}

void add_side(std::vector<std::string>& lines, const Finding& finding, const char* name,
              const std::optional<Evidence>& side) {
  if (!side) return;
  std::string line = fmt::format("{}: {} of {} {}", name, side_text(finding, side), side->samples,
                                 finding.subject == Subject::curve ? "sizes" : "samples");
  if (!side->commit.empty()) line += ", commit " + side->commit.substr(0, 12);
  for (const std::string& run : side->runs)
    line += (&run == &side->runs[0] ? ", runs " : " ") + run;
  lines.push_back(std::move(line));
}

}  // namespace

std::string subject_text(const Finding& finding) {
  std::string text = title_of(finding.series);
  if (!finding.series.mesh.empty()) text += ", " + finding.series.mesh;
  if (finding.series.parameters != "{}" && !finding.series.parameters.empty())
    text += " " + parameters_of(finding.series);
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

std::string side_text(const Finding& finding, const std::optional<Evidence>& side) {
  if (!side) return "-";
  std::string text = value_text(finding, side->median);
  if (side->interval && !finding.metric.exact)
    text += fmt::format(" ({})", range_text(finding, *side->interval));
  return text;
}

std::string change_text(const Finding& finding) {
  if (!finding.ratio) return "-";
  std::string text = fmt::format("{:+.2f} %", (*finding.ratio - 1) * 100);
  if (finding.ratio_interval)
    text += fmt::format(" ({:+.2f} .. {:+.2f} %)", (finding.ratio_interval->low - 1) * 100,
                        (finding.ratio_interval->high - 1) * 100);
  return text;
}

std::vector<std::string> evidence_text(const Finding& finding) {
  std::vector<std::string> lines;
  add_side(lines, finding, "base", finding.base);
  add_side(lines, finding, "new", finding.next);
  if (finding.p) lines.push_back(fmt::format("p {:.3g}, adjusted for all tests", *finding.p));
  if (finding.detectable)
    lines.push_back(fmt::format("a change of {:.2f} % would be found", *finding.detectable * 100));
  std::string fields;
  for (const std::string& field : finding.differing) fields += (fields.empty() ? "" : ", ") + field;
  if (!fields.empty()) lines.push_back("differs in " + fields);
  for (const std::string& cause : finding.causes) lines.push_back("cause: " + cause);
  return lines;
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
