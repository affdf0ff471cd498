#pragma once

#include <string>

#include "tools/probe.h"

namespace shardlab {

/// Seconds against bytes of one kernel.
struct ProbedOp {
  std::string op;
  std::vector<ProbedPoint> points;
};

/// The pointwise kernels that models spend most of their time beside products in. On a processor
/// they differ by several times in what a byte costs, since many are bound by arithmetic.
[[nodiscard]] std::vector<ProbedOp> probe_pointwise(const ProbeOptions& options);

/// At each size the geometric mean over ops: for kernels that were not measured by themselves.
[[nodiscard]] std::vector<ProbedPoint> mean_of(const std::vector<ProbedOp>& ops);

}  // namespace shardlab
