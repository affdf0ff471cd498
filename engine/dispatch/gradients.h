#pragma once

#include "engine/dispatch/tape.h"

namespace shardlab {

/// `gradients`, with an empty result for a tensor that the outputs do not reach.
[[nodiscard]] std::vector<Tensor> gradients_where_reached(std::span<const Tensor> outputs,
                                                          std::span<const Tensor> wrt,
                                                          std::span<const Tensor> seeds,
                                                          GradientOptions options);

}  // namespace shardlab
