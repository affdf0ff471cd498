#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/change_points.h"
#include "results/comparison.h"
#include "results/mark.h"
#include "results/run.h"

namespace shardlab::results {

/// A commit as one value of a series.
struct HistoryPoint {
  std::string commit = {};   ///< With a `+` where it had uncommitted changes.
  std::string created = {};  ///< Of its first run.
  std::vector<RunId> runs = {};
  std::int64_t samples = 0;  ///< Timed iterations of all runs.
  double value = 0;          ///< Units: see Metric. Median over runs of the medians of each.
};

/// What became of a shift.
enum class ShiftState : std::uint8_t {
  open,      ///< Worse, and the series is still not back where it was.
  accepted,  ///< Worse, and somebody said that it is meant.
  undone,    ///< Worse, and taken back later.
  better,
  small,    ///< Below the floor, alone and with all before it.
  changed,  ///< Of a metric that is neither better nor worse.
};

[[nodiscard]] const char* name_of(ShiftState state);

/// A change of level between two commits.
struct Shift {
  ChangePoint at = {};  ///< Of the points.
  double before = 0;    ///< The level; Units: see Metric.
  double after = 0;
  std::optional<double> ratio = {};       ///< After over before.
  std::optional<Interval> interval = {};  ///< 95 %, of the ratio.
  ShiftState state = ShiftState::small;
  std::string note = {};  ///< Of the mark.
};

/// One series on one environment.
struct HistoryChart {
  SeriesKey series = {};
  Metric metric = {};
  EnvironmentKey environment = {};        ///< Empty where it does not matter.
  std::vector<HistoryPoint> points = {};  ///< Oldest first.
  std::vector<Shift> shifts = {};
  Verdict verdict = Verdict::same;  ///< Worse: an open shift. Else same or not_enough.
  std::vector<std::string> notes = {};

  /// Whether every difference is a change: exact metrics, and predictions.
  [[nodiscard]] bool is_exact() const;
};

/// What is asked of the past.
struct HistoryQuestion {
  std::string metric = {};              ///< A full name; see find_metric.
  Fields where = {};                    ///< Values that fields of the series must have.
  double floor = 0.02;                  ///< A shift of a time below this is small.
  std::vector<std::string> order = {};  ///< Commits, oldest first; empty: by their first runs.
};

/// The stored metric that a person means: its name, the beginning of only one, or a short name:
/// `step`, `bytes`, `peak`.
///
/// Errors   invalid, naming the nearest.
[[nodiscard]] Metric find_metric(const Reader& reader, std::string_view word);

/// All series of a metric over commits, with their shifts; runs that did not complete are left out,
/// and times of runs with more ranks than cores.
///
/// Errors   invalid: no such field, or no run has that value, naming the nearest.
[[nodiscard]] std::vector<HistoryChart> read_history(const Reader& reader,
                                                     const HistoryQuestion& question);

/// Finds the shifts of a chart and what became of them, with the marks of its series and metric.
void find_shifts(HistoryChart& chart, const std::vector<Mark>& marks, double floor);

/// The index of the shift that a commit belongs to, by its first letters; none if there is none.
[[nodiscard]] std::optional<std::size_t> shift_at(const HistoryChart& chart,
                                                  std::string_view commit);

}  // namespace shardlab::results
