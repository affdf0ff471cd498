#pragma once

#include <cstdint>

#include "results/change.h"

namespace shardlab::results {

/// How the gate is tried.
struct GateQuestion {
  std::int64_t pairs = 20;        ///< Of blocks in a report.
  std::int64_t reports = 10'000;  ///< Resampled for each slow-down.
  Metric metric = step_seconds();
  ComparisonOptions options = {};
  std::uint64_t seed = 1;
};

/// How often the gate says what.
struct GateRate {
  double slowdown = 0;  ///< Of the new side: 0.05 is 5 % slower; 0 is A against A.
  std::int64_t reports = 0;
  std::int64_t worse = 0;   ///< Reports that say so.
  std::int64_t better = 0;  ///< The opposite.
  Interval interval;        ///< 95 %, of the rate of worse.
};

/// Reports over noise that was recorded: `noise` are pairs of one thing beside itself, in order of
/// time.
///
/// Either of a pair may be the new one. A report takes its pairs in stretches of a fourth of them
/// as they were recorded, so that what neighbours have in common stays, and its verdict is that of
/// change.h.
///
/// Cost     A report is one bootstrap; 0.2 ms for 20 pairs.
/// Errors   invalid: fewer recorded pairs than a report has, or no pairs or reports.
[[nodiscard]] GateRate resampled_rate(const Samples& noise, double slowdown,
                                      const GateQuestion& question);

/// The same for as many whole reports as were recorded, each of other pairs.
[[nodiscard]] GateRate recorded_rate(const Samples& noise, double slowdown,
                                     const GateQuestion& question);

}  // namespace shardlab::results
