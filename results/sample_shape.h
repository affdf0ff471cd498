#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shardlab::results {

/// Two groups that samples fall into.
struct TwoModes {
  double low = 0;  ///< Median of the lower group.
  double high = 0;
  std::size_t below = 0;  ///< Samples in the lower group, outliers apart.
  std::size_t above = 0;
};

/// What samples look like beside their middle.
struct SampleShape {
  std::size_t samples = 0;
  double median = 0;
  std::vector<std::size_t> outliers;  ///< Positions, in the order of the samples.
  double farthest = 0;                ///< The outlier farthest from the median, if any.
  std::optional<TwoModes> modes;

  /// Whether median and interval say less than they seem to.
  [[nodiscard]] bool odd() const { return !outliers.empty() || modes; }
};

/// Finds outliers from 8 samples on, and two modes from 20 on.
///
/// Two modes are groups of at least a tenth of the samples, the gap between them at least twice the
/// wider group's interquartile range and 2 % of the median. An outlier lies more than three such
/// ranges, and 2 % of the median, outside the quartiles of all samples or of its group. Of 20
/// normal samples 2 in 1,000 are said to have two modes, of 20 exponential ones 3 in 100.
///
/// Cost     Sorting.
/// Errors   invalid: a sample that is not finite.
/// Source   Tukey, Exploratory Data Analysis, 1977 (values far out). The gap is our own.
[[nodiscard]] SampleShape shape_of(std::span<const double> samples);

/// Half a sentence for a note, empty if nothing is odd: `2 of 20 samples are outliers, the farthest
/// 1.85 times the median`.
///
/// Units    `show` writes a sample; without it, three digits do.
[[nodiscard]] std::string to_text(const SampleShape& shape,
                                  const std::function<std::string(double)>& show = {});

}  // namespace shardlab::results
