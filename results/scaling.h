#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/query.h"
#include "results/statistics.h"

namespace shardlab::results {

/// A metric of a run in short.
struct Summary {
  double median = 0;                      ///< Units: see Metric.
  std::optional<Interval> interval = {};  ///< Of the run's Uncertainty, else bootstrap.
  std::int64_t iterations = 0;            ///< Timed ones.
  double coverage = 0.95;                 ///< Of the interval.
  std::string source = {};                ///< Weakest source of an Uncertainty.
};

/// Per iteration the values of the ranks become one as the metric says (a time: the slowest rank),
/// then the median over the timed iterations.
///
/// The interval is that of the run's Uncertainty where it has one, else the bootstrap interval,
/// none for a single iteration. Nothing is returned where the run has no timed sample of it.
[[nodiscard]] std::optional<Summary> summarize(const Reader& reader, RunId run,
                                               std::string_view metric);

/// The timed values of a metric, one an iteration, combined across ranks as above; none where the
/// run has no such samples.
[[nodiscard]] std::vector<double> iteration_values(const Reader& reader, RunId run,
                                                   std::string_view metric);

/// How a run did against its reference.
struct CheckCount {
  std::int64_t passed = 0;
  std::int64_t failed = 0;
};

/// One mesh of a scaling curve.
struct CurveRow {
  std::string mesh = {};
  std::int64_t ranks = 1;
  RunId run = {};
  RunStatus status = RunStatus::complete;
  std::string reason = {};  ///< Why failed or skipped.
  bool oversubscribed = false;
  std::optional<Summary> seconds = {};
  std::optional<double> speedup = {};     ///< Over one rank; weak scaling: ranks times that.
  std::optional<double> efficiency = {};  ///< Speedup by ranks; none where oversubscribed.
  std::optional<double> peak_bytes = {};  ///< Of the rank with most.
  std::optional<double> bytes_sent = {};  ///< Of an iteration, all ranks together.
  CheckCount checks = {};
};

/// The same work on several meshes.
struct Curve {
  SeriesKey series = {};  ///< Without mesh.
  std::string environment =
      {};  ///< Hash; empty for predict and published, which it does not touch.
  std::vector<CurveRow> rows = {};  ///< By ranks, then mesh.
};

/// Curves, the one with the newest run first; of each mesh the newest run that has ended.
[[nodiscard]] std::vector<Curve> scaling_curves(const Reader& reader, const RunFilter& filter = {});

/// Gives the rows of a curve their speedup and efficiency, where it has one rank.
void compare_with_one_rank(Curve& curve);

/// Whether a series ran, unlike predicted and published ones.
[[nodiscard]] bool is_measured(const SeriesKey& key);

/// Whether two series do the same work, whatever does it: scenario, parameters, dtype and mode.
[[nodiscard]] bool same_problem(const SeriesKey& a, const SeriesKey& b);

/// The row of one mesh in a predicted or published curve.
struct Companion {
  const Curve* curve = nullptr;
  const CurveRow* row = nullptr;
  std::optional<double> ratio = {};  ///< Its time over the measured one.
};

/// What else is known of a measured row: rows of `all` of the same problem and mesh that were
/// predicted or published.
[[nodiscard]] std::vector<Companion> companions(const Curve& measured, const CurveRow& row,
                                                const std::vector<Curve>& all);

}  // namespace shardlab::results
