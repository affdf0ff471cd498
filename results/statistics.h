#pragma once

#include <cstdint>
#include <span>

namespace shardlab::results {

/// The middle value, or the mean of the two middle ones.
///
/// Errors   invalid: no values.
[[nodiscard]] double median(std::span<const double> values);

struct Interval {
  double low = 0;
  double high = 0;
};

struct Bootstrap {
  double coverage = 0.95;
  std::int32_t resamples = 2000;
  std::uint64_t seed = 1;
};

/// The percentile bootstrap interval of the median: equal for equal values and options.
///
/// Of fewer than 6 values it is at most their range, which holds the median of the distribution
/// less often than in 95 of 100 cases: with probability 1 - 2^(1-n).
///
/// Cost     resamples * values.
/// Errors   invalid: no values, no resamples, or a coverage outside ]0, 1[.
/// Source   Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.
[[nodiscard]] Interval bootstrap_median(std::span<const double> values,
                                        const Bootstrap& options = {});

}  // namespace shardlab::results
