#pragma once

#include <cstdint>

namespace shardlab {

/// What the scratch memory of an attention depends on.
struct AttentionExtents {
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::int64_t key_width = 0;
  std::int64_t value_width = 0;
  std::int64_t element_bytes = 4;
};

/// Bytes that an attention kernel may use: a block of queries with its scores, and the keys and
/// values of one head.
[[nodiscard]] constexpr std::int64_t attention_forward_workspace(const AttentionExtents& e) {
  const std::int64_t widths = e.key_width + e.value_width + 32;
  return e.element_bytes * (widths * (512 + e.keys) + 32 * 1024) + 1024;
}

/// Bytes that the gradient kernel may use: tiles of all operands, and of one head the queries,
/// their cotangents and gradients.
[[nodiscard]] constexpr std::int64_t attention_backward_workspace(const AttentionExtents& e) {
  const std::int64_t widths = e.key_width + e.value_width + 32;
  return e.element_bytes * (widths * (1024 + 2 * (e.queries + 32)) + 44 * 1024) + 1024;
}

}  // namespace shardlab
