#pragma once

#include <cstdint>
#include <span>

#include "engine/sim/nccl.h"

namespace shardlab::sim::nccl {

/// What a hop crosses.
enum class Hardware : std::uint8_t { nvlink, pci, network };

/// Most that one thread block moves, and most that LL moves in all; 0 where NCCL has no limit.
///
/// Units    bytes/s.
struct Caps {
  double ll;
  double ring_ll128;
  double tree_ll128;
  double tree;
  double nvls_tree;
  double nvls_efficiency;  ///< Of what the links carry; 0 where the switch cannot reduce.
};

/// Limits of a GPU generation on `nodes` domains.
[[nodiscard]] Caps caps_of(int sm, int nodes, Cpu cpu);

/// Start of a collective, in seconds.
[[nodiscard]] double base_latency(Algorithm algorithm, Protocol protocol);

/// One hop, in seconds.
[[nodiscard]] double hop_latency(Hardware hardware, Algorithm algorithm, Protocol protocol);

/// Time the host spends to post one message to a NIC, in seconds.
[[nodiscard]] double post_latency(Cpu cpu, Protocol protocol);

/// What is left of a tree's rate at this size. NCCL takes the next power of two below; here values
/// between are on a line, so that a larger call never takes less time.
[[nodiscard]] double tree_correction(Protocol protocol, double bytes);

/// Rates of one channel that the search tries, falling, in bytes/s.
[[nodiscard]] std::span<const double> speeds(int sm, bool between_domains);

/// What NCCL counts of the line rate of a link.
[[nodiscard]] double usable_of_link(int sm);

/// Errors   Error{invalid} unless NCCL has tables for this generation.
void check_generation(int sm);

}  // namespace shardlab::sim::nccl
