#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/sim/machine.h"

namespace shardlab::sim {

/// What measurements of one collective on one number of ranks make of its curve.
struct CollectiveFit {
  CollectiveCurve curve;  ///< The median of the measurements at each size; times never fall.
  int measurements = 0;
  int samples = 0;               ///< Sizes of all measurements together.
  std::string refused;           ///< Why the curve corrects nothing; empty: it does.
  std::optional<double> before;  ///< Median relative error of the machine; none: it has no curve.
  double after = 0;
  std::optional<double> left_out;  ///< Each measurement by the others; none for a single one.
};

/// One curve for each collective and number of ranks, from curves that were measured on the machine
/// itself. A measurement whose times fall by more than 15 % as the sizes rise is left out.
[[nodiscard]] std::vector<CollectiveFit> fit_collectives(
    const Machine& machine, const std::vector<CollectiveCurve>& measured, const std::string& from);

}  // namespace shardlab::sim
