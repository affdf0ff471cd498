#pragma once

#include "engine/dispatch/communicate.h"

namespace shardlab {

/// A dense view as a communicator takes it.
[[nodiscard]] Block block_of(const View& view);

/// The part `begin .. begin + extent` of a dim.
[[nodiscard]] View part_of(View view, int dim, std::int64_t begin, std::int64_t extent);

/// Dense elements of this shape from element `begin` of `packed` on.
[[nodiscard]] View run_of(const View& packed, std::int64_t begin, const Shape& shape);

/// Copies elements between views of equal shape; `whole` is what the trace says of them.
void copy_part(Worker& worker, const View& from, const View& to, const Spec& whole);

/// Dense memory lent to a communicator.
struct Staging {
  Ref<Buffer> buffer;
  View view;
};

[[nodiscard]] Staging stage(Worker& worker, const Shape& shape, Dtype dtype);

/// A tensor like this one under another layout, without values.
[[nodiscard]] Tensor make_like(const Tensor& like, const Layout* layout);

/// Starts a call that fills `out` and waits for it, or leaves the wait to the first reader of `out`
/// if `later`; until then `lent` keeps what the call reads.
void communicate(const Tensor& out, const Moved& moved, const Ref<Buffer>& lent, bool later,
                 const std::function<Pending(Communicator&)>& start);

}  // namespace shardlab
