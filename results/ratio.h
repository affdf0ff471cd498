#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "results/statistics.h"

namespace shardlab::results {

/// How much one side is of the other.
struct Ratio {
  double value = 1;  ///< Of `next` over `base`.
  Interval interval = {};
};

/// The ratio of the two medians, with its percentile bootstrap interval: equal for equal input.
///
/// Each side is resampled on its own, in blocks of `block_length` consecutive values.
///
/// Errors   invalid: a side without values, or a value that is not positive; as bootstrap_median.
[[nodiscard]] Ratio ratio_of(std::span<const double> base, std::span<const double> next,
                             const Bootstrap& options = {});

/// The middle one of the ratios of pairs that were taken one beside the other, so that what drifts
/// slowly hits both and cancels.
///
/// Errors   As above, or sides of different length.
[[nodiscard]] Ratio paired_ratio_of(std::span<const double> base, std::span<const double> next,
                                    const Bootstrap& options = {});

/// How many consecutive values hang together: 1 where neighbours tell nothing of each other, at
/// most a fourth of them.
///
/// Source   The rate of Kuensch, 1989, for a process whose correlation decays by a constant factor;
///          that factor is estimated from ranks, which outliers do not move.
[[nodiscard]] std::size_t block_length(std::span<const double> values);

/// Medians of consecutive blocks of that length; a last shorter block joins the one before.
[[nodiscard]] std::vector<double> block_medians(std::span<const double> values, std::size_t block);

}  // namespace shardlab::results
