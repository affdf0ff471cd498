#pragma once

#include <vector>

#include "results/run.h"
#include "tools/measure.h"

namespace shardlab {

/// What the first step computes on one rank; in float64 it is the reference of `--check`.
[[nodiscard]] std::vector<NamedValues> one_rank_values(const Execution& execution,
                                                       const Scenario& scenario, Params params,
                                                       Dtype dtype);

/// Compares every tensor of a first step with its reference: max|a - b| / max|b|.
///
/// The bound is 1e-10 for float64; for float32 1e-5, and 1e-4 for gradients. Where the gradient of
/// one rank in the same dtype (`one_rank`) is itself further from the float64 one, because a ReLU
/// has its kink between the two, no rank can be nearer: such a tensor is compared with that rank
/// instead, under the same bound, and its name says so.
///
/// Errors   Error{internal} if they name different tensors.
[[nodiscard]] std::vector<results::Check> compare_values(const std::vector<NamedValues>& values,
                                                         const std::vector<NamedValues>& reference,
                                                         const std::vector<NamedValues>& one_rank,
                                                         Dtype dtype);

}  // namespace shardlab
