#pragma once

#include "tools/probe.h"

namespace shardlab {

/// What dispatch costs.
struct DispatchCost {
  double kernel_seconds = 0;  ///< The smallest kernel.
  double issue_seconds = 0;   ///< Of an op beside its kernel.
};

[[nodiscard]] DispatchCost probe_dispatch(const ProbeOptions& options);

/// Seconds against flop of `linear` and `outer_sum`, their mean at each size.
[[nodiscard]] std::vector<ProbedPoint> probe_products(const ProbeOptions& options, Dtype dtype);

/// Seconds against flop of attention and of its gradient.
struct ProbedAttention {
  std::vector<ProbedPoint> forward;
  std::vector<ProbedPoint> gradient;
};
[[nodiscard]] ProbedAttention probe_attention(const ProbeOptions& options, Dtype dtype);

}  // namespace shardlab
