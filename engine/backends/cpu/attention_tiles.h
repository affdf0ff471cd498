#pragma once

#include <cstddef>
#include <cstdint>

namespace shardlab::cpu {

/// One operand [batch, token, head, width], read or written where it lies.
///
/// Units    Strides are elements.
template <typename T>
struct AttentionView {
  T* data = nullptr;
  std::int64_t batch_stride = 0;
  std::int64_t token_stride = 0;
  std::int64_t head_stride = 0;
  std::int64_t width_stride = 1;
};

/// Extents of softmax(scale q k^T) v; any of them may be 0.
struct AttentionSizes {
  std::int64_t batch = 0;
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::int64_t heads = 0;
  std::int64_t key_width = 0;
  std::int64_t value_width = 0;
  double scale = 1.0;
};

/// Computes out = softmax(scale q k^T) v, and lse, the logarithm of each query's sum of
/// exponentials. Without keys out is 0 and lse is minus infinity.
///
/// Shapes   lse is dense [batch, query, head]; workspace is aligned to 64 bytes.
/// Cost     2 batch heads queries keys (key_width + value_width) flop. Scores exist a tile at a
///          time. Defined for float and double.
template <typename T>
void attention_forward(const AttentionSizes& sizes, AttentionView<const T> q,
                       AttentionView<const T> k, AttentionView<const T> v, AttentionView<T> out,
                       T* lse, std::byte* workspace);

/// Computes the gradients of q, k and v, writing over what dq, dk and dv hold.
///
/// `out` and `lse` may belong to more keys than are given here, as in ring attention: each block of
/// keys then gets its share. A query whose lse is minus infinity has no part in any gradient.
///
/// Shapes   lse and lse_gradient are dense [batch, query, head]; lse_gradient may be null.
/// Cost     2 batch heads queries keys (3 key_width + 2 value_width) flop: scores are made again.
template <typename T>
void attention_backward(const AttentionSizes& sizes, AttentionView<const T> q,
                        AttentionView<const T> k, AttentionView<const T> v,
                        AttentionView<const T> out, const T* lse,
                        AttentionView<const T> out_gradient, const T* lse_gradient,
                        AttentionView<T> dq, AttentionView<T> dk, AttentionView<T> dv,
                        std::byte* workspace);

/// What `workspace` must hold; the same on every processor.
///
/// Units    Bytes, a multiple of 64.
[[nodiscard]] std::int64_t attention_forward_workspace_bytes(const AttentionSizes& sizes,
                                                             std::int64_t element_bytes);
[[nodiscard]] std::int64_t attention_backward_workspace_bytes(const AttentionSizes& sizes,
                                                              std::int64_t element_bytes);

}  // namespace shardlab::cpu
