#pragma once

#include <cstdint>

#include "engine/core/mesh.h"

namespace shardlab::sim {

/// Tells communicators apart: equal for equal axes in equal order. A set of axes in another order
/// is another communicator, which counts its calls by itself.
[[nodiscard]] inline std::uint64_t communicator_key(const AxisList& axes) {
  std::uint64_t key = 0;
  for (const int axis : axes) key = 64 * key + static_cast<std::uint64_t>(axis) + 1;
  return key;
}

}  // namespace shardlab::sim
