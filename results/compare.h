#pragma once

#include "results/comparison.h"
#include "results/side.h"

namespace shardlab::results {

/// Holds two sides against each other.
///
/// Exact quantities are compared exactly, across machines. Times are compared where environments
/// are equal, by change.h: with `least_runs` a side the runs are the samples, of fewer the
/// iterations. Oversubscribed runs are not compared by their times. Runs that were
/// measured beside each other are compared in pairs (turns.h). Predictions are computed, so that
/// they are compared as numbers.
///
/// Errors   external: as the readers of the sides.
/// Example  const Comparison c = compare(find_side("main", file), find_side("HEAD", file), {});
[[nodiscard]] Comparison compare(const Side& base, const Side& next,
                                 const ComparisonOptions& options);

/// Sorts findings by how bad their verdicts are, then by how much they changed.
void sort_worst_first(Comparison& comparison);

/// Whether both sides have a series.
[[nodiscard]] bool shares_series(const Comparison& comparison);

}  // namespace shardlab::results
