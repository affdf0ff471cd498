#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/sim/gpu_matrix.h"
#include "engine/sim/machine.h"
#include "engine/sim/nccl_topology.h"

namespace shardlab::sim {

/// What a topology says of the wires of one host; nothing where it is silent.
struct HostWires {
  std::optional<int> gpus;
  std::optional<int> links;   ///< Fast links of one GPU.
  std::optional<int> domain;  ///< GPUs that reach each other over them.
  std::string kind;           ///< `switch`, `mesh`, `none`, or empty.
  std::optional<int> nics;    ///< Ports that GPUs use.
  std::optional<double> nic_bytes_per_second;
  std::optional<double> nic_latency;  ///< Seconds.
  std::vector<std::string> notes;
};

/// A matrix shows between two GPUs the links that both can use: all of a GPU's through switches,
/// its share of them in a mesh. It is a mesh if the shares add up to no more than `most_links`. Of
/// network ports those count that are nearest to a GPU, across PCIe switches at most, if any are.
[[nodiscard]] HostWires wires_of(const GpuMatrix& matrix, int most_links);

/// A file of a virtual machine often shows devices and no links: then nothing is said of links.
[[nodiscard]] HostWires wires_of(const NcclTopology& topology);

/// A machine that holds what a topology says otherwise than `base`, measured by the user.
[[nodiscard]] Machine corrected(const Machine& base, const HostWires& wires,
                                const std::string& from);

}  // namespace shardlab::sim
