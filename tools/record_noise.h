#pragma once

#include <vector>

#include "engine/launch/launch.h"
#include "tools/request.h"

namespace shardlab {

/// How noise is recorded.
struct NoiseOptions {
  double step_seconds = 0.020;  ///< So many iterations are one step that it takes this long.
  int steps = 5;                ///< Of a block.
  double seconds = 60;          ///< In all.
  std::int64_t least_blocks = 40;
};

/// What a machine needs for one and the same thing, again and again.
struct RecordedNoise {
  int iterations = 1;          ///< Of a step.
  double step_seconds = 0;     ///< Median.
  std::vector<double> blocks;  ///< Medians of their steps, in order of time.
};

/// Runs a case on this machine, block after block, each with a set-up and warm-up of its own.
///
/// Errors   As measure.
[[nodiscard]] RecordedNoise record_noise(const Execution& execution, const Case& tested,
                                         const NoiseOptions& options);

}  // namespace shardlab
