#pragma once

#include "engine/sim/nccl.h"
#include "engine/sim/nccl_channels.h"

namespace shardlab::sim::nccl {

/// What NCCL reckons one way of doing a call to cost: latency + bytes / bandwidth.
///
/// Units    Seconds, bytes/s; bandwidth 0 where NCCL does not offer this way.
struct Cost {
  double latency = 0;
  double bandwidth = 0;
  [[nodiscard]] double seconds(double bytes) const { return latency + bytes / bandwidth; }
};

/// One call, and the wires and channels it finds.
struct Call {
  const Wires& wires;
  const Group& group;
  const Graphs& graphs;
  Collective collective;
  double bytes;
};

/// NCCL's own figures, with `nic_latency` for each crossing of the network.
[[nodiscard]] Cost cost_of(const Call& call, Algorithm algorithm, Protocol protocol,
                           double nic_latency);

}  // namespace shardlab::sim::nccl
