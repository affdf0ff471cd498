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
/// The bound is 1e-10 for float64; for float32 1e-5, and 1e-4 for gradients, or three times the
/// error of `one_rank`, which is one rank in the same dtype: where a ReLU sits within rounding of
/// its kink, float32 itself is further away. Errors   Error{internal} if they name different
/// tensors.
[[nodiscard]] std::vector<results::Check> compare_values(const std::vector<NamedValues>& values,
                                                         const std::vector<NamedValues>& reference,
                                                         const std::vector<NamedValues>& one_rank,
                                                         Dtype dtype);

}  // namespace shardlab
