#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/core/trace.h"
#include "engine/sim/machine.h"

namespace shardlab {

/// A traced step on one rank and what it took.
struct RatedTrace {
  std::span<const Step> steps;
  double seconds = 0;
};

/// Changes the curves of matrix products and attention so that the steps take what they took.
///
/// With pointwise kernels as the machine says, t = p + m x + a y: x and y are the factors on the
/// time of products and of the attention that these steps add (its gradient if they have one, the
/// forward part being known by then). Where products take under a twentieth, each step gives one
/// point of the attention curve.
///
/// Returns  One line for each curve changed.
std::vector<std::string> calibrate_rates(sim::Machine& machine, Precision precision,
                                         const std::vector<RatedTrace>& steps,
                                         const std::string& from);

}  // namespace shardlab
