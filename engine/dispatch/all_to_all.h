#pragma once

#include "engine/dispatch/worker.h"

namespace shardlab {

/// Moves a tensor between two layouts that shard it differently: every rank sends each other rank
/// the overlap of its part with the part that the other is to have.
///
/// Ranks that hold copies of a part serve only those at their own place on the axes they copy.
[[nodiscard]] Tensor all_to_all(const Tensor& x, const Layout* to);

}  // namespace shardlab
