#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/metric.h"
#include "results/series.h"
#include "results/statistics.h"

namespace shardlab::results {

/// The metric of a finding about a series that one side has not.
inline constexpr const char* all_quantities = "all quantities";

/// What is said of one quantity on two sides.
enum class Verdict : std::uint8_t {
  same,            ///< Equal, or inside the equivalence band.
  better,          ///< Faster, less.
  worse,           ///< Slower, more: a confirmed regression.
  undecided,       ///< Neither could be shown; `detectable` says what could have been.
  not_comparable,  ///< The environments differ; `differing` says in what.
  not_enough,      ///< Too few samples or sizes.
  added,           ///< Only the new side has it.
  vanished,        ///< Only the base has it.
};

/// What a finding is of.
enum class Subject : std::uint8_t {
  quantity,  ///< A metric of one series.
  curve,     ///< A number fitted to a scaling curve: serial fraction, efficiency at N.
  drift,     ///< Measured over predicted.
};

/// What one side has.
struct Evidence {
  std::vector<std::string> runs = {};  ///< Uuids.
  std::string commit = {};
  std::int64_t samples = 0;  ///< Timed iterations, or sizes of a curve.
  double median = 0;         ///< Units: see Metric.
  std::optional<Interval> interval = {};
};

/// One row of a comparison.
struct Finding {
  Subject subject = Subject::quantity;
  SeriesKey series = {};  ///< Without mesh for a curve.
  Metric metric = {};     ///< Of curves and drifts a name of its own, such as `serial_fraction`.
  Verdict verdict = Verdict::undecided;
  std::string reason = {};  ///< One sentence with its numbers.
  std::optional<Evidence> base = {};
  std::optional<Evidence> next = {};
  std::optional<double> ratio = {};             ///< New over base.
  std::optional<Interval> ratio_interval = {};  ///< 95 %.
  std::optional<double> p = {};             ///< Of the test, adjusted for all tests of the report.
  std::optional<double> detectable = {};    ///< The smallest relative change that would be found.
  std::vector<std::string> differing = {};  ///< Fields of the environment.
  std::vector<std::string> causes = {};     ///< What grew and where, the largest first.
};

/// How two sides are held against each other.
struct ComparisonOptions {
  double floor = 0.02;         ///< A change below this is never reported, and is the same.
  double least_seconds = 0;    ///< Nor is one of fewer seconds.
  double apart_floor = 0.1;    ///< The floor where one side ran after the other: machines
                               ///< change meanwhile.
  double significance = 0.02;  ///< Of the whole report, after Holm; half of it is slower.
  std::vector<std::string> allowed = {};  ///< Fields of series and environment that may differ.
  bool strict = false;                    ///< Undecided counts as not comparable in the exit code.
  bool iterations = false;  ///< Those of one run a side are enough for a verdict, though
                            ///< they do not show what two starts differ by.
  bool committed = false;   ///< The base is a baseline: what it has may not vanish.
  std::uint64_t seed = 1;
};

/// Everything that compare has to say; all faces print this and nothing else.
struct Comparison {
  std::string base = {};  ///< As typed, with what it stands for.
  std::string next = {};
  ComparisonOptions options = {};
  std::vector<Finding> findings = {};   ///< The worst first.
  std::vector<std::string> notes = {};  ///< Rows left out and why, odd samples, weak evidence.

  [[nodiscard]] std::int64_t count(Verdict verdict) const;
};

/// Whether somebody has to know of it: most sweeps have too few sizes for a curve.
[[nodiscard]] bool is_news(const Finding& finding);

[[nodiscard]] const char* name_of(Verdict verdict);
[[nodiscard]] const char* name_of(Subject subject);

}  // namespace shardlab::results
