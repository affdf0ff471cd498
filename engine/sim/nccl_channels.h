#pragma once

#include "engine/sim/nccl.h"

namespace shardlab::sim::nccl {

/// Channels that NCCL lays over the wires, and what each may carry.
///
/// Units    bytes/s of one channel.
struct Graph {
  int channels = 0;
  double within = 0;   ///< Inside a domain.
  double between = 0;  ///< From a domain to the next.
};

/// Ranks in one domain; the most, where they are uneven.
[[nodiscard]] int per_domain(const Group& group);

/// The graphs of one communicator.
struct Graphs {
  Graph ring;
  Graph tree;
  Graph nvls;  ///< No channels where the switch cannot reduce.
};

/// NCCL's search, in closed form: GPUs of a domain are alike and so are its NICs.
///
/// It tries falling speeds and keeps the one with the largest channels * speed; a ring or tree
/// takes one share of every GPU's links a channel, an NVLS head one share of all and one more of
/// its own; each NIC carries whole channels only.
///
/// Example  8 H100 on NVSwitch (18 links of 20.6 GB/s): rings 12 x 30, NVLS 8 x 40 GB/s.
[[nodiscard]] Graphs search(const Wires& wires, const Group& group);

/// What a GPU sends to, or takes from, its whole domain, as NCCL counts it, in bytes/s; PCIe where
/// there are no links.
[[nodiscard]] double domain_rate(const Wires& wires, const Group& group);

/// NICs that the ranks of one domain use, and what each gives the group, in bytes/s, while the
/// concurrent ones use them too.
struct Nics {
  double count = 0;
  double rate = 0;
};
[[nodiscard]] Nics nics_of(const Wires& wires, const Group& group);

/// Thread blocks of a call.
[[nodiscard]] int blocks_of(const Wires& wires, const Group& group, const Graphs& graphs,
                            Algorithm algorithm, Protocol protocol, double bytes);

}  // namespace shardlab::sim::nccl
