#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/backends/cpu/attention_tiles.h"

namespace shardlab::cpu::attention_tiles {

/// Rows of a register tile.
inline constexpr int tile_rows = 6;

/// Tokens that are worked on at a time. Query tiles and backward's key tile are multiples of
/// tile_rows and of the columns of every register tile, so that full tiles waste nothing.
struct ForwardTile {
  static constexpr std::int64_t queries = 192;
  static constexpr std::int64_t keys = 96;
};
struct BackwardTile {
  static constexpr std::int64_t queries = 96;
  static constexpr std::int64_t keys = 192;
};

/// Columns are padded to this many elements: the most that any level has in a vector.
inline constexpr std::int64_t widest_vector = 16;

/// Between rows of scores: for float an odd number of 64-byte lines, so that a walk down a column
/// meets every set of a cache.
[[nodiscard]] constexpr std::int64_t score_stride(std::int64_t columns) {
  return columns + widest_vector;
}

[[nodiscard]] constexpr std::int64_t round_up(std::int64_t count, std::int64_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

/// Arrays of the forward workspace, in bytes from its start.
struct ForwardPlan {
  ForwardPlan(const AttentionSizes& sizes, std::int64_t element_bytes);

  std::int64_t q_columns, k_rows, v_rows, weights, sums_of_values;
  std::int64_t maximum, sum, tile_sum;
  std::int64_t bytes;
};

/// Arrays of the backward workspace, in bytes from its start.
struct BackwardPlan {
  BackwardPlan(const AttentionSizes& sizes, std::int64_t element_bytes);

  std::int64_t q_rows, out_gradient_rows, k_rows, k_columns, v_columns, weights, score_gradients;
  std::int64_t dq, dk, dv, lse, delta;
  std::int64_t bytes;
};

}  // namespace shardlab::cpu::attention_tiles
