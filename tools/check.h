#pragma once

#include <vector>

#include "results/run.h"
#include "tools/measure.h"

namespace shardlab {

/// What the first step computes on one rank in float64: the reference of `--check`.
[[nodiscard]] std::vector<NamedValues> reference_values(const Execution& execution,
                                                        const Scenario& scenario, Params params);

/// Compares every tensor of a first step with its reference: max|a - b| / max|b|.
///
/// The bound is 1e-10 for float64; for float32 1e-5, and 1e-4 for gradients.
/// Errors   Error{internal} if the two name different tensors.
[[nodiscard]] std::vector<results::Check> compare_values(const std::vector<NamedValues>& values,
                                                         const std::vector<NamedValues>& reference,
                                                         Dtype dtype);

}  // namespace shardlab
