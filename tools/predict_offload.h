#pragma once

#include "engine/sim/offload.h"
#include "tools/predict.h"

namespace shardlab {

/// A prediction with part of the state in host memory.
struct OffloadPrediction {
  double seconds = 0;
  double half_width = 0;
  sim::DeviceMemory memory;  ///< Of the rank that needs most.
  sim::Fit fit;
  double host_bytes = 0;  ///< Of the rank that keeps most there.
};

/// Moves state of a predicted training step to the host: the step grows by what the rank that
/// waits longest for its copies waits, which is exact where ranks do the same.
///
/// Errors   As `sim::host_link`.
[[nodiscard]] OffloadPrediction with_offload(const Prediction& prediction, sim::Offload offload,
                                             const Params& params, const Mesh& mesh,
                                             const PredictOptions& options);

}  // namespace shardlab
