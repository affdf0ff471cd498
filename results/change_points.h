#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shardlab::results {

/// Where the level of a series changes.
struct ChangePoint {
  std::size_t index = 0;  ///< The first value of the new level.
  std::size_t first = 0;  ///< The new level may begin here already ...
  std::size_t last = 0;   ///< ... or here only, with 95 % likelihood.
};

struct ChangePointOptions {
  std::size_t shortest = 2;           ///< Values of a level; fewer are a spike.
  std::size_t most_levels = 64;       ///< Of a series.
  double resolution = 0;              ///< Differences below this are no sign of anything.
  std::span<const double> weights{};  ///< One a value, or none; for instance 1 by interval width.
};

/// The most values that change_points takes.
inline constexpr std::size_t most_values = 4096;

/// The levels that explain a series best: exact over all ways to cut it.
///
/// A level is the weighted median of its values. The cut with the least n ln(S / n + resolution) +
/// (levels - 1) penalty(n) wins, S being the weighted sum of the distances to the levels.
///
/// Cost     n^2 (log n + levels); n^2 / 2 numbers of memory.
/// Errors   invalid: more than most_values, a value that is not finite, a weight that is not
///          positive, or not as many weights as values.
/// Source   Friedrich et al., Complexity penalized M-estimation, 2008, for the cost; the penalty is
///          measured, see penalty.
[[nodiscard]] std::vector<ChangePoint> change_points(std::span<const double> values,
                                                     const ChangePointOptions& options = {});

/// What one more level must gain in a series of n values.
///
/// 4 ln n, at least 10: then noise without a change, white or with a correlation of 0.3 from value
/// to value, gives a change in at most 1 of 100 series of any length.
[[nodiscard]] double change_penalty(std::size_t n);

}  // namespace shardlab::results
