#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "engine/core/buffer.h"
#include "engine/core/trace.h"
#include "engine/sim/machine.h"
#include "engine/sim/placement.h"
#include "engine/sim/profile.h"

namespace shardlab::sim {

/// What the engine itself holds on one rank, counted exactly.
struct EngineMemory {
  double peak = 0;
  std::array<double, category_count> at_peak{};
  double parameters = 0;   ///< Of the rank's own parts.
  double query_block = 0;  ///< Largest result of an attention kernel.
  bool ring = false;       ///< Its attention goes round a ring.
  bool training = false;
};

/// A part of device memory.
struct MemoryPart {
  std::string name;
  Quantity bytes;
};

/// Device memory of one rank: what tensors need, what the allocator asks of the driver, and all.
///
/// Units    Bytes.
struct DeviceMemory {
  double engine = 0;
  double allocated = 0;           ///< Tensors, those of the software profile included.
  double reserved = 0;            ///< In the segments of a caching allocator.
  double total = 0;               ///< With context, library workspaces and communicators.
  double half_width = 0;          ///< Relative, of the total.
  std::vector<MemoryPart> parts;  ///< They add up to the total.
};

[[nodiscard]] EngineMemory engine_memory(std::span<const Step> steps, double peak,
                                         const std::array<std::int64_t, category_count>& at_peak,
                                         bool training);

[[nodiscard]] DeviceMemory device_memory(const Machine& machine, const Profile& profile,
                                         const EngineMemory& engine, std::span<const Step> steps,
                                         const Placement& placement);

/// Whether a device holds it: fits, fits within the margin of error only, or by how much not.
struct Fit {
  bool fits = true;
  double over = 0;      ///< Bytes too many.
  std::string breaker;  ///< The part that crosses the line, largest first.
};

/// Judged on the total with this relative margin.
[[nodiscard]] Fit fit(const Machine& machine, const DeviceMemory& memory, double margin = 0.03);

}  // namespace shardlab::sim
