#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "results/random.h"
#include "results/statistics.h"

namespace shardlab::results {

/// Medians of resamples of some values, drawn with replacement in blocks of consecutive ones.
///
/// Errors   invalid: no values, more than 2^32, or a block that is not 1 .. their number.
/// Source   Blocks: Kuensch, Annals of Statistics 17, 1989; they wrap around at the end.
class Resample {
 public:
  explicit Resample(std::span<const double> values, std::size_t block = 1);

  [[nodiscard]] double median(Random& random);

 private:
  [[nodiscard]] double value_at(std::size_t position) const;

  std::vector<double> sorted_;
  std::vector<std::size_t> place_;  // of each value among the sorted ones
  std::vector<std::uint32_t> drawn_;
  std::size_t block_;
};

/// The part of some numbers that lies around their middle: as much as `coverage` says.
///
/// Errors   invalid: no numbers, or a coverage outside ]0, 1[.
[[nodiscard]] Interval percentiles(std::vector<double> numbers, double coverage);

}  // namespace shardlab::results
