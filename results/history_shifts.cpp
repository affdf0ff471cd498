#include <algorithm>
#include <cmath>

#include "results/history.h"
#include "results/ratio.h"

namespace shardlab::results {
namespace {

// Times repeat to no better than this part of themselves.
constexpr double repeatable = 1e-3;

std::vector<ChangePoint> exact_changes(const std::vector<double>& values, bool is_rounded) {
  const double least = is_rounded ? 1e-9 : 0;
  std::vector<ChangePoint> changes;
  for (std::size_t i = 1; i < values.size(); ++i)
    if (std::abs(values[i] - values[i - 1]) > least * std::abs(values[i - 1]))
      changes.push_back({i, i, i});
  return changes;
}

std::span<const double> part(const std::vector<double>& values, std::size_t begin,
                             std::size_t end) {
  return std::span(values).subspan(begin, end - begin);
}

void set_sizes(std::vector<Shift>& shifts, const std::vector<double>& values, bool with_interval) {
  for (std::size_t s = 0; s < shifts.size(); ++s) {
    Shift& shift = shifts[s];
    const auto old = part(values, s == 0 ? 0 : shifts[s - 1].at.index, shift.at.index);
    const auto now = part(values, shift.at.index,
                          s + 1 < shifts.size() ? shifts[s + 1].at.index : values.size());
    shift.before = median(old);
    shift.after = median(now);
    if (shift.before > 0) shift.ratio = shift.after / shift.before;
    const bool positive = std::ranges::all_of(old, [](double v) { return v > 0; }) &&
                          std::ranges::all_of(now, [](double v) { return v > 0; });
    if (with_interval && positive) shift.interval = ratio_of(old, now).interval;
  }
}

bool belongs(const HistoryChart& chart, const Shift& shift, std::size_t point) {
  if (chart.is_exact()) return point == shift.at.index;
  return point + 1 >= std::min(shift.at.first + 1, shift.at.index) &&
         point <= std::max(shift.at.last, shift.at.index + 1);
}

const Mark* mark_of(const HistoryChart& chart, const Shift& shift, const std::vector<Mark>& marks) {
  for (const Mark& mark : marks) {
    if (mark.series != chart.series || mark.metric != chart.metric.name) continue;
    for (std::size_t i = 0; i < chart.points.size(); ++i)
      if (chart.points[i].commit == mark.commit && belongs(chart, shift, i)) return &mark;
  }
  return nullptr;
}

// Follows the level that a series ought to have.
class Reference {
 public:
  Reference(double level, Better better, double floor)
      : level_(level), sign_(better == Better::higher ? -1 : 1), floor_(floor) {}

  [[nodiscard]] bool is_worse(double level, double than) const {
    return sign_ * (level - than) > floor_ * std::abs(than);
  }
  [[nodiscard]] bool is_missed_by(double level) const { return is_worse(level, level_); }

  void accept(const Shift& shift) { level_ += shift.after - shift.before; }
  void improve(double level) {
    if (sign_ * (level - level_) < 0) level_ = level;
  }

 private:
  double level_;
  double sign_;
  double floor_;
};

void set_states(HistoryChart& chart, const std::vector<Mark>& marks, double floor) {
  Reference reference(chart.shifts.front().before, chart.metric.better, floor);
  for (Shift& shift : chart.shifts) {
    const Mark* mark = mark_of(chart, shift, marks);
    if (mark != nullptr) shift.note = mark->note;
    if (chart.metric.better == Better::none) {
      shift.state = ShiftState::changed;
    } else if (reference.is_worse(shift.before, shift.after)) {
      shift.state = ShiftState::better;
      reference.improve(shift.after);
    } else if (mark != nullptr) {
      shift.state = ShiftState::accepted;
      reference.accept(shift);
    } else if (reference.is_missed_by(shift.after) &&
               reference.is_worse(shift.after, shift.before)) {
      shift.state = ShiftState::open;
    }
    if (reference.is_missed_by(shift.after)) continue;
    for (Shift& each : chart.shifts)
      if (each.state == ShiftState::open) each.state = ShiftState::undone;
  }
}

}  // namespace

const char* name_of(ShiftState state) {
  switch (state) {
    case ShiftState::open:
      return "open";
    case ShiftState::accepted:
      return "accepted";
    case ShiftState::undone:
      return "undone";
    case ShiftState::better:
      return "better";
    case ShiftState::small:
      return "small";
    case ShiftState::changed:
      return "changed";
  }
  return "unknown";
}

bool HistoryChart::is_exact() const {
  return metric.exact || series.execution == Execution::predict;
}

void find_shifts(HistoryChart& chart, const std::vector<Mark>& marks, double floor) {
  const bool exact = chart.is_exact();
  chart.shifts.clear();
  chart.verdict = chart.points.size() < (exact ? 2U : 4U) ? Verdict::not_enough : Verdict::same;
  if (chart.verdict == Verdict::not_enough) return;
  std::vector<double> values;
  for (const HistoryPoint& point : chart.points) values.push_back(point.value);
  const auto changes =
      exact ? exact_changes(values, !chart.metric.exact)
            : change_points(values, {.resolution = repeatable * std::abs(median(values))});
  for (const ChangePoint& change : changes) chart.shifts.push_back({.at = change});
  if (changes.empty()) return;
  set_sizes(chart.shifts, values, !exact);
  set_states(chart, marks, exact ? 0 : floor);
  if (std::ranges::count(chart.shifts, ShiftState::open, &Shift::state) > 0)
    chart.verdict = Verdict::worse;
}

std::optional<std::size_t> shift_at(const HistoryChart& chart, std::string_view commit) {
  if (commit.empty()) return std::nullopt;
  for (std::size_t s = 0; s < chart.shifts.size(); ++s)
    for (std::size_t i = 0; i < chart.points.size(); ++i)
      if (chart.points[i].commit.starts_with(commit) && belongs(chart, chart.shifts[s], i))
        return s;
  return std::nullopt;
}

}  // namespace shardlab::results
