#include "engine/dispatch/all_to_all.h"

#include <algorithm>

#include "engine/dispatch/staging.h"

namespace shardlab {
namespace {

/// Where this rank's part lies in both layouts for every member of a group.
struct Boxes {
  std::vector<std::array<std::int64_t, max_ndim>> begin;
  std::vector<Shape> extent;
  std::vector<std::int64_t> counts;
};

/// The overlap of `mine`'s part of one layout with each member's part of the other, empty where
/// the member reads its copy from someone else.
Boxes overlaps(const Layout& mine, const Layout& theirs, const Layout& from, const Shape& shape,
               const AxisList& axes, const Coordinates& at) {
  Boxes boxes;
  const Mesh& mesh = mine.mesh();
  for (int p = 0; p < mesh.size(axes); ++p) {
    const Coordinates other = mesh.member(axes, at, p);
    bool serves = true;
    for (const int axis : axes)
      if (from.placement(axis).kind != Placement::Kind::shard && other[axis] != at[axis])
        serves = false;
    auto& begin = boxes.begin.emplace_back();
    Shape extent = shape;
    for (int d = 0; d < shape.ndim(); ++d) {
      const std::int64_t own = mine.start(d, at);
      const std::int64_t low = std::max(own, theirs.start(d, other));
      const std::int64_t high =
          std::min(own + mine.extent(d, shape[d], at),
                   theirs.start(d, other) + theirs.extent(d, shape[d], other));
      begin[d] = low - own;
      extent[d] = serves ? std::max<std::int64_t>(0, high - low) : 0;
    }
    boxes.counts.push_back(extent.count());
    boxes.extent.push_back(extent);
  }
  return boxes;
}

View box(View view, const std::array<std::int64_t, max_ndim>& begin, const Shape& extent) {
  for (int d = 0; d < extent.ndim(); ++d) view = part_of(view, d, begin[d], extent[d]);
  return view;
}

/// The axes of all dims that the two layouts cut differently.
AxisList moved_axes(const Layout& from, const Layout& to) {
  AxisList axes;
  for (int axis = 0; axis < from.mesh().ndim(); ++axis)
    for (int d = 0; d < from.ndim(); ++d)
      if (!(from.dim(d) == to.dim(d)) &&
          (from.dim(d).axes.contains(axis) || to.dim(d).axes.contains(axis)) &&
          !axes.contains(axis))
        axes.push_back(axis);
  return axes;
}

void log_overlaps(Worker& worker, const Layout* from, const Layout* to, const Shape& shape,
                  const AxisList& axes) {
  std::uint64_t key = hash_join(hash_start, reinterpret_cast<std::uintptr_t>(from));
  key = hash_join(key, reinterpret_cast<std::uintptr_t>(to));
  for (const std::int64_t extent : shape) key = hash_join(key, static_cast<std::uint64_t>(extent));
  worker.answers().log(key, worker.coordinates(), [=](const Coordinates& at) {
    std::uint64_t hash = hash_start;
    for (const auto& counts : {overlaps(*from, *to, *from, shape, axes, at).counts,
                               overlaps(*to, *from, *from, shape, axes, at).counts})
      for (std::size_t p = 0; p < counts.size(); ++p) {
        // By distance, so that ranks that do the same are told apart only by what they do.
        const auto size = static_cast<int>(counts.size());
        const int peer = (from->mesh().position(axes, at) + static_cast<int>(p)) % size;
        hash = hash_join(hash, static_cast<std::uint64_t>(counts[peer]));
      }
    return hash;
  });
}

}  // namespace

Tensor all_to_all(const Tensor& x, const Layout* to) {
  Worker& worker = x.worker();
  const Layout* from = x.layout();
  const Shape shape = x.shape();
  const AxisList axes = moved_axes(*from, *to);
  log_overlaps(worker, from, to, shape, axes);
  const Coordinates& at = worker.coordinates();
  const Boxes sends = overlaps(*from, *to, *from, shape, axes, at);
  const Boxes receives = overlaps(*to, *from, *from, shape, axes, at);
  const auto total = [](const Boxes& boxes) {
    std::int64_t sum = 0;
    for (const std::int64_t count : boxes.counts) sum += count;
    return sum;
  };
  const Tensor out = make_like(x, to);
  const Staging outgoing = stage(worker, Shape{total(sends)}, x.dtype());
  const Staging incoming = stage(worker, Shape{total(receives)}, x.dtype());
  std::int64_t begin = 0;
  for (std::size_t p = 0; p < sends.counts.size(); ++p) {
    copy_part(worker, box(x.state().view, sends.begin[p], sends.extent[p]),
              run_of(outgoing.view, begin, sends.extent[p]), x.spec());
    begin += sends.counts[p];
  }
  communicate(out, {"all_to_all", axes, out.spec(), shape.count() * width_of(x.dtype())}, {}, false,
              [&](Communicator& c) {
                return c.all_to_all(block_of(outgoing.view), sends.counts, block_of(incoming.view),
                                    receives.counts);
              });
  begin = 0;
  for (std::size_t p = 0; p < receives.counts.size(); ++p) {
    copy_part(worker, run_of(incoming.view, begin, receives.extent[p]),
              box(out.state().view, receives.begin[p], receives.extent[p]), out.spec());
    begin += receives.counts[p];
  }
  return out;
}

}  // namespace shardlab
