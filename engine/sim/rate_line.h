#pragma once

#include <vector>

#include "engine/sim/machine.h"

namespace shardlab::sim {

/// A value read off a line, and how well it is known.
struct Reading {
  double value = 0;
  double half_width = 0;  ///< Relative.
  Source weakest = Source::user_measured;
  bool extrapolated = false;  ///< The size lies outside the points.
};

/// Rates against sizes, joined on log-log axes, from curves that complete each other.
class RateLine {
 public:
  /// Adds the points of a worse known curve that lie outside those there already.
  void complete(const Points& points, Source source, double half_width);

  [[nodiscard]] bool empty() const { return points_.empty(); }

  /// The rate at a size: between two points on the straight line of the logarithms, with the weaker
  /// source of the two; beyond the last point that of the last; below the first on the line through
  /// the first two, its slope kept from 0 to 1: neither rates nor times grow as sizes fall.
  ///
  /// Errors   Error{internal} without points or for a size that is not positive.
  [[nodiscard]] Reading at(double size) const;

 private:
  struct Point {
    double size;
    double rate;
    double log_size;
    double log_rate;
    Source source;
    double half_width;
  };
  std::vector<Point> points_;
  double first_slope_ = 0;
};

}  // namespace shardlab::sim
