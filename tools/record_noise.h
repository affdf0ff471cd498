#pragma once

#include <cstdint>
#include <string>

#include "results/change.h"
#include "tools/request.h"

namespace shardlab {

/// How noise is recorded.
struct NoiseOptions {
  double step_seconds = 0.020;  ///< The batch is so large that a step takes about so long.
  int steps = 20;               ///< Of a block.
  double seconds = 120;         ///< In all.
  std::int64_t least_pairs = 20;
};

/// What `compare --ab` measures of one and the same command, again and again.
struct RecordedNoise {
  std::string command;
  double step_seconds = 0;  ///< Median.
  results::Samples pairs;   ///< In order of time.
};

/// Holds the preset `tiny` of a scenario on one rank against itself.
///
/// Errors   unsupported: a scenario without `batch`; as `Ab`.
[[nodiscard]] RecordedNoise record_noise(const Scenarios& scenarios, const std::string& scenario,
                                         const NoiseOptions& options);

}  // namespace shardlab
