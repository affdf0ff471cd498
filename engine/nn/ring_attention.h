#pragma once

#include "engine/ops/attention.h"

namespace shardlab::nn {

/// Attention whose keys and values are cut along tokens: blocks of them travel around the ring of
/// ranks while each rank attends to the block it has, and the parts are joined by log-sum-exp.
///
/// q is cut along tokens over the same ranks, in any split; extents may be uneven or 0. The
/// gradient sends blocks around again, followed by what each rank adds to their gradients.
///
/// Shapes   q [b, q, h, d], k [b, k, h, d], v [b, k, h, e] -> [b, q, h, e] and [b, q, h].
/// Cost     The flop of attention; a rank receives all foreign keys and values once, and in the
///          gradient twice more.
/// Source   Liu, Zaharia and Abbeel 2023, arXiv:2310.01889.
[[nodiscard]] Attended ring_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                      double scale);

}  // namespace shardlab::nn
