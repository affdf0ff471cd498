#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/sim/memory.h"
#include "engine/sim/simulate.h"

namespace shardlab::sim {

/// What a training step keeps in the memory of the host instead of the device's.
struct Offload {
  bool optimizer = false;    ///< State of the optimizer: comes for the update, then goes back.
  bool activations = false;  ///< Saved by forward: go as they are made, come back for backward.

  [[nodiscard]] bool any() const { return optimizer || activations; }
  friend bool operator==(const Offload&, const Offload&) = default;
};

/// `none`, `optimizer`, `activations` or `both`.
[[nodiscard]] const char* name_of(Offload offload);

/// Errors   Error{invalid} naming the known ones.
[[nodiscard]] Offload parse_offload(std::string_view text);

/// All four, `none` first.
[[nodiscard]] std::vector<Offload> all_offloads();

/// The wires between devices and the memory of their host; each direction has its own.
struct HostLink {
  double copy_bandwidth = 0;    ///< Of one device, one direction.
  double memory_bandwidth = 0;  ///< Of the host, shared by its devices; 0: never the limit.
  int devices = 1;              ///< That copy at once.
  double half_width = 0;        ///< Relative, of the 80 % interval of a transfer.
};

/// The link that each of so many ranks has when hosts are filled one after the other.
///
/// Errors   Error{invalid} where the machine has no `host.copy_bandwidth`: device and host memory
///          are one there.
[[nodiscard]] HostLink host_link(const Machine& machine, int ranks);

/// What crosses the link while a part of the step computes.
struct Crossing {
  double compute_seconds = 0;
  double out_bytes = 0;  ///< To the host.
  double in_bytes = 0;   ///< To the device.
};

/// t = max(out / copy, in / copy, devices (out + in) / memory): both directions at once, and all
/// devices of a host against its memory.
[[nodiscard]] double transfer_seconds(const HostLink& link, const Crossing& crossing);

/// What a transfer adds to the step: max(0, t - compute), since copies run beside kernels and only
/// their rest is waited for.
[[nodiscard]] double exposed_seconds(const HostLink& link, const Crossing& crossing);

/// A step whose state lies partly in host memory, on one rank.
struct Offloaded {
  double exposed_seconds = 0;  ///< Added to the step.
  double half_width = 0;       ///< Relative, of the rank's seconds with what is exposed.
  double host_bytes = 0;       ///< Kept in host memory.
  double staged_bytes = 0;     ///< Device memory that copies pass through.
  EngineMemory engine;         ///< What stays on the device.
};

/// Predicts offload from a simulated step; nothing in the engine does it yet.
///
/// The step has three parts, told by the scopes `backward` and `optimizer` of its steps: forward
/// sends what it saves, backward fetches it, and the update fetches and sends back the optimizer's
/// state, all of it each step. Each part takes max(compute, transfer), so
///     seconds = sum over parts of max(compute, t).
///
/// Memory is read from the bytes live after each step, less `rest`, what lives between steps:
/// of what is alive at step i of forward, at most the smallest amount alive at any step from i on
/// to its end is kept for backward, and may leave; at step i of backward at most the smallest
/// amount alive so far, less all gradients, has yet to come back. Staging stays for two pieces, one
/// under way while the next is made: pieces are the largest output of forward, and both moments of
/// the largest parameter. Not counted: pinned memory of the host, and what its cores do.
///
/// Units    Seconds, bytes.
/// Cost     Linear in the steps.
[[nodiscard]] Offloaded offloaded(Offload offload, const HostLink& link, const Timeline& timeline,
                                  double half_width, const EngineMemory& engine, double rest);

}  // namespace shardlab::sim
