#pragma once

#include <optional>

#include "engine/ops/attention.h"

namespace shardlab::nn {

/// What attention reads. Only `scale` is there yet; the rest is refused by name.
struct AttentionOptions {
  std::optional<double> scale;  ///< 1 / sqrt(width of a head) if absent.
  bool causal = false;
  std::int64_t diagonal = 0;
  std::optional<std::int64_t> window_left;
  std::optional<std::int64_t> window_right;
  Tensor key_mask;
  Tensor query_position;
  Tensor key_position;
};

/// Attention in the form that the layouts ask for: on one rank, around a ring where keys and values
/// are cut along tokens, or replicated.
///
/// Shapes   q [b, q, h, d], k [b, k, h, d], v [b, k, h, e] -> [b, q, h, e] and [b, q, h].
/// Errors   Error{unsupported} naming the attribute that is not there yet.
[[nodiscard]] Attended attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                 const AttentionOptions& options);

}  // namespace shardlab::nn
