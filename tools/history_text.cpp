#include "tools/history_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "results/finding_text.h"
#include "results/one_line.h"
#include "results/series_text.h"
#include "results/show.h"
#include "tools/line_chart.h"
#include "tools/table.h"

namespace shardlab {
namespace {

using results::HistoryChart;
using results::HistoryPoint;
using results::Shift;
using results::ShiftState;
using results::Verdict;

constexpr std::size_t most_quiet_charts = 3;

std::string value_text(const HistoryChart& chart, double value) {
  return results::value_text({.series = chart.series, .metric = chart.metric}, value);
}

/// A label of an axis, which need not be exact.
std::string tick_text(const HistoryChart& chart, double value) {
  if (chart.metric.unit == "flop") return results::show_flop(value);
  if (chart.metric.unit == "B" && std::abs(value) >= 1e5) return results::show_bytes(value);
  return value_text(chart, value);
}

std::string short_name(const std::string& commit) {
  if (commit.starts_with("run-")) return commit;
  return commit.substr(0, 8) + (commit.size() > 8 && commit.ends_with('+') ? "+" : "");
}

std::string percent(double ratio) { return fmt::format("{:+.1f} %", (ratio - 1) * 100); }

std::string change_text(const HistoryChart& chart, const Shift& shift) {
  if (chart.metric.exact) {
    std::string text = value_text(chart, shift.after - shift.before);
    if (shift.after > shift.before) text.insert(0, "+");
    return shift.ratio ? fmt::format("{}, {}", text, percent(*shift.ratio)) : text;
  }
  return shift.ratio ? percent(*shift.ratio) : "-";
}

std::string interval_text(const Shift& shift) {
  if (!shift.interval) return "-";
  return fmt::format("{:+.1f} .. {:+.1f} %", (shift.interval->low - 1) * 100,
                     (shift.interval->high - 1) * 100);
}

std::string label_of(const HistoryPoint& point) {
  return fmt::format("{} {}", short_name(point.commit), point.created.substr(0, 10));
}

LineChart line_chart(const HistoryChart& chart) {
  LineChart line;
  for (const HistoryPoint& point : chart.points) line.values.push_back(point.value);
  std::size_t begin = 0;
  for (const Shift& shift : chart.shifts) {
    line.levels.push_back({begin, shift.at.index, shift.before});
    begin = shift.at.index;
  }
  const double level =
      chart.shifts.empty() ? results::median(line.values) : chart.shifts.back().after;
  line.levels.push_back({begin, line.values.size(), level});
  if (!chart.is_exact()) line.least_range = 0.1 * std::abs(level);
  line.first = label_of(chart.points.front());
  line.last = label_of(chart.points.back());
  line.label = [&chart](double value) { return tick_text(chart, value); };
  return line;
}

std::string environment_text(const results::EnvironmentKey& key) {
  std::string text = key.processor;
  for (const std::string& word : {key.isa, key.build_type, key.compiler})
    if (!word.empty()) text += ", " + word;
  return text;
}

std::string title_text(const HistoryChart& chart, const HistoryChart* before) {
  std::string text =
      fmt::format("{} of {}, {}\n", chart.metric.name, title_of(chart.series), chart.series.mesh);
  if (const std::string parameters = parameters_of(chart.series); !parameters.empty())
    text += fmt::format("  {}\n", parameters);
  if (chart.environment == results::EnvironmentKey{}) return text;
  text += fmt::format("  on {}\n", environment_text(chart.environment));
  if (before == nullptr || before->series != chart.series) return text;
  std::string fields;
  for (const std::string& field :
       results::differences(fields_of(before->environment), fields_of(chart.environment)))
    fields += (fields.empty() ? "" : ", ") + field;
  return text + fmt::format("  another machine than above, so a chart of its own: {} differ{}\n",
                            fields, fields.find(',') == std::string::npos ? "s" : "");
}

std::string next_text(const HistoryChart& chart, const Shift& shift, std::size_t number,
                      const HistoryLooks& looks) {
  const std::string& bad = chart.points[shift.at.index].commit;
  std::string text = fmt::format("  {} is open: {} since {}\n", number, change_text(chart, shift),
                                 short_name(bad));
  if (const std::string range = range_of(chart, shift); !range.empty())
    text += fmt::format("    look at it:  git log --oneline {}\n", range);
  return text + fmt::format("    if meant:    shardlab history {} --accept {} --note 'why'\n",
                            looks.metric, short_name(bad));
}

std::string shifts_text(const HistoryChart& chart, const HistoryLooks& looks) {
  if (chart.verdict == Verdict::not_enough)
    return fmt::format("  too few commits: {}; at least {} are needed\n", chart.points.size(),
                       chart.is_exact() ? 2 : 4);
  if (chart.shifts.empty() && chart.is_exact())
    return fmt::format("  {} at all of {} commits\n", value_text(chart, chart.points[0].value),
                       chart.points.size());
  if (chart.shifts.empty()) return "  no shift\n";
  Table table({"#", "last good .. first bad", "before", "after", "change", "95 % interval", "state",
               "note"});
  for (std::size_t i = 0; i < chart.shifts.size(); ++i) {
    const Shift& shift = chart.shifts[i];
    table.row({std::to_string(i + 1),
               fmt::format("{} .. {}", short_name(chart.points[shift.at.first - 1].commit),
                           short_name(chart.points[shift.at.last].commit)),
               value_text(chart, shift.before), value_text(chart, shift.after),
               change_text(chart, shift), interval_text(shift), results::name_of(shift.state),
               results::one_line(shift.note)});
  }
  std::string text = table.text();
  for (std::size_t i = 0; i < chart.shifts.size(); ++i)
    if (chart.shifts[i].state == ShiftState::open)
      text += next_text(chart, chart.shifts[i], i + 1, looks);
  return text;
}

std::string chart_text(const HistoryChart& chart, const HistoryChart* before,
                       const HistoryLooks& looks) {
  std::string text = title_text(chart, before);
  const bool is_flat = chart.is_exact() && chart.shifts.empty();
  if (!chart.points.empty() && !is_flat) text += text_of(line_chart(chart), 120, looks.ascii);
  text += shifts_text(chart, looks);
  for (const std::string& note : chart.notes)
    text += fmt::format("  {}\n", results::one_line(note));
  return text;
}

std::string quiet_text(const std::vector<const HistoryChart*>& charts) {
  if (charts.empty()) return "";
  Table table({"without a shift", "mesh", "commits", "newest", "least", "most"});
  for (const HistoryChart* chart : charts) {
    const auto [least, most] = std::ranges::minmax(chart->points, {}, &HistoryPoint::value);
    table.row({title_of(chart->series), chart->series.mesh, std::to_string(chart->points.size()),
               value_text(*chart, chart->points.back().value), value_text(*chart, least.value),
               value_text(*chart, most.value)});
  }
  return table.text() + "`--all` draws them\n";
}

std::string counts_text(const std::vector<HistoryChart>& charts) {
  std::size_t open = 0, few = 0;
  for (const HistoryChart& chart : charts) {
    open += chart.verdict == Verdict::worse;
    few += chart.verdict == Verdict::not_enough;
  }
  std::string text = fmt::format("{} series: {} with an open regression", charts.size(), open);
  if (few > 0) text += fmt::format(", {} with too few commits", few);
  return text + "\n";
}

}  // namespace

std::string range_of(const HistoryChart& chart, const Shift& shift) {
  std::string good = chart.points[shift.at.first - 1].commit;
  std::string bad = chart.points[shift.at.last].commit;
  if (good.starts_with("run-") || bad.starts_with("run-")) return "";
  if (good.ends_with('+')) good.pop_back();
  if (bad.ends_with('+')) bad.pop_back();
  if (good == bad) return "";
  return short_name(good) + ".." + short_name(bad);
}

std::string history_text(const std::vector<HistoryChart>& charts, const HistoryLooks& looks) {
  std::string text;
  std::vector<const HistoryChart*> quiet;
  const HistoryChart* before = nullptr;
  for (const HistoryChart& chart : charts) {
    const bool is_quiet = chart.verdict == Verdict::same && chart.shifts.empty();
    if (is_quiet && !looks.all && charts.size() > most_quiet_charts)
      quiet.push_back(&chart);
    else
      text += chart_text(chart, before, looks) + "\n";
    before = &chart;
  }
  text += quiet_text(quiet);
  return text + counts_text(charts);
}

}  // namespace shardlab
