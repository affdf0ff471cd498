#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/core/trace.h"
#include "engine/sim/machine.h"
#include "engine/sim/profile.h"

namespace shardlab {

/// A traced step on one rank and what it took.
struct RatedTrace {
  std::span<const Step> steps;
  double seconds = 0;
};

/// Gives attention the curve with which the steps take what they took, a point a step.
///
/// The points are of kernels that keep all processors busy, see `attention_fill`. Everything else
/// is priced as the machine says. Where a step has a backward pass the gradient of
/// attention is adjusted, the forward part being known by then.
///
/// Returns  One line for the curve changed.
/// Errors   Error{invalid} if the rest of a step leaves no time for attention.
std::vector<std::string> calibrate_rates(sim::Machine& machine, const sim::Profile& profile,
                                         Precision precision, const std::vector<RatedTrace>& steps,
                                         const std::string& from);

}  // namespace shardlab
