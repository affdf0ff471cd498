#pragma once

#include "engine/sim/nccl.h"

namespace shardlab::sim::nccl {

/// A collective on wires that NCCL has no tables for: the faster of a ring and a binary tree, each
/// hop at the latency given and all bytes at the rate of the narrowest wire, with the ramp.
///
/// Units    Seconds; Choice::algorithm says Algorithm::plain.
[[nodiscard]] Choice plain_choice(const Wires& wires, const Group& group, Collective collective,
                                  double bytes);

}  // namespace shardlab::sim::nccl
