#include "engine/backends/cpu/attention_plan.h"

#include <algorithm>

namespace shardlab::cpu {
namespace attention_tiles {
namespace {

class Cursor {
 public:
  explicit Cursor(std::int64_t element_bytes) : element_bytes_(element_bytes) {}

  std::int64_t take(std::int64_t elements) {
    const std::int64_t at = used_;
    used_ += round_up(elements * element_bytes_, 64);
    return at;
  }

  [[nodiscard]] std::int64_t used() const { return used_; }

 private:
  std::int64_t element_bytes_;
  std::int64_t used_ = 0;
};

}  // namespace

ForwardPlan::ForwardPlan(const AttentionSizes& sizes, std::int64_t element_bytes) {
  using Tile = ForwardTile;
  const std::int64_t queries = Tile::queries;
  const std::int64_t value_width = round_up(sizes.value_width, widest_vector);
  Cursor cursor(element_bytes);
  q_columns = cursor.take(queries * sizes.key_width);
  k_rows = cursor.take(round_up(sizes.keys, tile_rows) * sizes.key_width);
  v_rows = cursor.take(sizes.keys * value_width);
  weights = cursor.take(Tile::keys * score_stride(Tile::queries));
  sums_of_values = cursor.take(queries * value_width);
  maximum = cursor.take(queries);
  sum = cursor.take(queries);
  tile_sum = cursor.take(queries);
  bytes = cursor.used();
}

BackwardPlan::BackwardPlan(const AttentionSizes& sizes, std::int64_t element_bytes) {
  using Tile = BackwardTile;
  const std::int64_t key_width = round_up(sizes.key_width, widest_vector);
  const std::int64_t value_width = round_up(sizes.value_width, widest_vector);
  const std::int64_t queries = round_up(sizes.queries, tile_rows);
  Cursor cursor(element_bytes);
  q_rows = cursor.take(queries * key_width);
  out_gradient_rows = cursor.take(queries * value_width);
  k_rows = cursor.take(Tile::keys * key_width);
  k_columns = cursor.take(Tile::keys * sizes.key_width);
  v_columns = cursor.take(Tile::keys * sizes.value_width);
  weights = cursor.take(Tile::queries * score_stride(Tile::keys));
  score_gradients = cursor.take(Tile::queries * score_stride(Tile::keys));
  dq = cursor.take(queries * key_width);
  dk = cursor.take(Tile::keys * key_width);
  dv = cursor.take(Tile::keys * value_width);
  lse = cursor.take(queries);
  delta = cursor.take(queries);
  bytes = cursor.used();
}

}  // namespace attention_tiles

std::int64_t attention_forward_workspace_bytes(const AttentionSizes& sizes,
                                               std::int64_t element_bytes) {
  return attention_tiles::ForwardPlan(sizes, element_bytes).bytes;
}

std::int64_t attention_backward_workspace_bytes(const AttentionSizes& sizes,
                                                std::int64_t element_bytes) {
  return attention_tiles::BackwardPlan(sizes, element_bytes).bytes;
}

}  // namespace shardlab::cpu
