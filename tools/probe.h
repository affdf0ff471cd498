#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/core/dtype.h"
#include "engine/sim/machine.h"

namespace shardlab {

/// How much of this machine is measured.
struct ProbeOptions {
  double point_seconds = 0.25;         ///< Spent on one size of one kernel or collective.
  std::int64_t most_width = 1024;      ///< Of matrix products [2n, n] by [n, 2n].
  std::int64_t most_tokens = 4096;     ///< Of attention with 8 heads of 64.
  std::int64_t most_bytes = 64 << 20;  ///< Of pointwise kernels and collectives.
  int most_ranks = 4;
};

/// Where progress goes, a line at a time.
using ProbeProgress = std::function<void(const std::string&)>;

/// What was measured here, as a machine whose GPUs are the cores that this process may run on.
struct Probed {
  sim::Machine machine;
  double seconds = 0;  ///< What it took.
};

/// Measures kernels, dispatch and collectives of rank threads on this machine: medians of warm
/// calls, one rank a core.
///
/// Cost     About 140 times `point_seconds` on two cores.
[[nodiscard]] Probed probe_machine(const ProbeOptions& options, const ProbeProgress& progress);

/// A size with the seconds that it took.
struct ProbedPoint {
  double size = 0;
  double seconds = 0;
  double spread = 0;  ///< Half of what lies between the first and the last tenth, relative.
};

/// The median and spread of samples.
[[nodiscard]] ProbedPoint probed(double size, std::vector<double> samples);

}  // namespace shardlab
