#pragma once

#include <cstdint>
#include <vector>

#include "results/ratio.h"

namespace shardlab::results {

/// What was sampled on so many ranks.
struct CurvePoint {
  double ranks = 1;
  std::vector<double> seconds = {};
};

/// A scaling curve as one rank's time and the part of it that does not shrink.
///
/// Strong scaling: alone * (serial + (1 - serial) / ranks), Amdahl's law. Weak scaling, where sizes
/// are those of a rank: alone * (1 - serial + serial * ranks). Faster than ideal gives a negative
/// serial fraction.
struct CurveFit {
  double alone = 0;  ///< Seconds.
  double serial = 0;
  bool weak = false;

  /// The time on so many ranks over that on one.
  [[nodiscard]] double relative(double ranks) const;
};

/// The least squares of relative errors of the medians.
///
/// Errors   invalid: fewer than two sizes, or a time that is not positive.
[[nodiscard]] CurveFit fit_curve(const std::vector<CurvePoint>& points, bool weak);

/// How two curves of equal sizes differ, by bootstrap of the samples of every size.
struct CurveChange {
  CurveFit base = {};
  CurveFit next = {};
  Interval base_serial = {};
  Interval next_serial = {};
  Ratio relative = {};  ///< Of the fitted times on most ranks over those on one.
  double relative_p = 1;
  double base_efficiency = 0;  ///< Measured, on most ranks.
  double next_efficiency = 0;
  Ratio efficiency = {};
  double efficiency_p = 1;
};

/// Errors   as fit_curve, or sizes that differ.
[[nodiscard]] CurveChange curve_change_of(const std::vector<CurvePoint>& base,
                                          const std::vector<CurvePoint>& next, bool weak,
                                          const Bootstrap& options = {});

}  // namespace shardlab::results
