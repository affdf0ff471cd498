#pragma once

#include "engine/dispatch/worker.h"

namespace shardlab {

/// Moves a tensor to another layout; an op with the identity as gradient.
///
/// Shard to Replicate is an all-gather, Partial to Replicate an all-reduce, Partial to Shard a
/// reduce-scatter, Shard to Shard an all-to-all; Replicate to Shard is a look at a slice, Replicate
/// to Partial keeps the value on one rank.
///
/// Errors   Error{invalid} if the layout does not fit the shape; Error{unsupported} for Shard to
///          Partial, which does not exist.
[[nodiscard]] Tensor redistribute(const Tensor& x, const Layout* layout);

/// The same below the tape.
[[nodiscard]] Tensor move(const Tensor& x, const Layout* target);

/// Starts moving a Partial tensor to `target` on the comm lane; the first reader of the result
/// waits. Moves that are no single reduction are done at once.
[[nodiscard]] Tensor move_later(Tensor x, const Layout* target);

/// The whole value on every rank.
[[nodiscard]] Tensor gather(const Tensor& x);

}  // namespace shardlab
