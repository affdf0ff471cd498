#pragma once

#include "tools/probe.h"

namespace shardlab {

/// Seconds of collectives of rank threads against their bytes as traces count them: the whole
/// tensor, and of send_recv what one rank sends.
[[nodiscard]] std::vector<sim::CollectiveCurve> probe_collectives(const ProbeOptions& options,
                                                                  int cores,
                                                                  const ProbeProgress& progress);

}  // namespace shardlab
