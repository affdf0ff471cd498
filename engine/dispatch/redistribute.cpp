#include "engine/dispatch/redistribute.h"

#include <algorithm>

#include "engine/core/check.h"
#include "engine/dispatch/communicate.h"
#include "engine/dispatch/dispatch.h"
#include "engine/dispatch/intrinsic.h"

namespace shardlab {
namespace {

Block block_of(const View& view) { return {view.data, view.shape.count(), view.dtype}; }

void* offset_of(const View& view, std::int64_t elements) {
  return view.data == nullptr ? nullptr : view.as<std::byte>() + elements * width_of(view.dtype);
}

/// The part `begin .. begin + extent` of a dim.
View part_of(View view, int dim, std::int64_t begin, std::int64_t extent) {
  view.data = offset_of(view, begin * view.strides[dim]);
  view.shape[dim] = extent;
  return view;
}

void copy(Worker& worker, const View& from, const View& to, const Spec& whole) {
  if (from.shape.count() == 0) return;
  static const Copy op;
  const View* in = &from;
  const View* out = &to;
  run_kernel(worker, op, Views(&in, 1), Views(&out, 1), whole);
}

/// Dense memory for `count` elements, lent to a communicator.
struct Staging {
  Ref<Buffer> buffer;
  View view;
};

Staging stage(Worker& worker, const Shape& shape, Dtype dtype) {
  Staging staging;
  staging.buffer =
      worker.backend().allocate(shape.count() * width_of(dtype), Category::communication);
  staging.view = {staging.buffer->data(), shape, dense_strides(shape), dtype};
  return staging;
}

/// A started call whose result is read later.
class Later final : public Filling {
 public:
  Later(Worker& worker, Communication communication, Ref<Buffer> lent)
      : worker_(worker), communication_(std::move(communication)), lent_(std::move(lent)) {}

  /// A result that nobody read: others may still use its memory.
  ~Later() override {
    if (finished_) return;
    try {
      finish();
    } catch (const Error&) {
      // The rank that failed tells; nobody waits for this result.
    }
  }

  void finish() override {
    finished_ = true;
    finish_communication(worker_, communication_);
    lent_ = {};
  }

 private:
  Worker& worker_;
  Communication communication_;
  Ref<Buffer> lent_;
  bool finished_ = false;
};

/// Fills `out` now, or when it is first read; `lent` is what the call reads until then.
void communicate(const Tensor& out, const Moved& moved, const Ref<Buffer>& lent, bool later,
                 const std::function<Pending(Communicator&)>& start) {
  Worker& worker = out.worker();
  Communication communication = start_communication(worker, moved, start);
  if (later)
    out.state().filling = make_ref<Later>(worker, std::move(communication), lent);
  else
    finish_communication(worker, communication);
}

/// Whether `longer` is `shorter` cut further by its last axes, every boundary kept.
bool refines(const Layout& table, const DimLayout& longer, const DimLayout& shorter) {
  if (longer.split == nullptr) return shorter.split == nullptr;
  if (shorter.axes.size() > longer.axes.size()) return false;
  for (int i = 0; i < shorter.axes.size(); ++i)
    if (shorter.axes[i] != longer.axes[i]) return false;
  if (shorter.split == nullptr) return true;
  const int group = longer.split->parts() / shorter.split->parts();
  return table.mesh().size(shorter.axes) == shorter.split->parts() &&
         longer.split->coarsened(group) == *shorter.split;
}

AxisList trailing(const DimLayout& longer, const DimLayout& shorter) {
  AxisList axes;
  for (int i = shorter.axes.size(); i < longer.axes.size(); ++i) axes.push_back(longer.axes[i]);
  return axes;
}

/// Sizes of the parts of this rank's piece of `shorter` along the trailing axes of `longer`.
std::vector<std::int64_t> part_sizes(const Worker& worker, const DimLayout& longer,
                                     const DimLayout& shorter) {
  const Mesh& mesh = worker.mesh();
  const AxisList axes = trailing(longer, shorter);
  std::vector<std::int64_t> sizes;
  for (int i = 0; i < mesh.size(axes); ++i)
    sizes.push_back(
        longer.split->size(mesh.position(longer.axes, mesh.member(axes, worker.coordinates(), i))));
  return sizes;
}

struct Mover {
  Worker& worker;
  LayoutTable& layouts;
  const Mesh& mesh;

  explicit Mover(Worker& w) : worker(w), layouts(w.layouts()), mesh(w.mesh()) {}

  Tensor make(const Tensor& like, const Layout* layout) {
    Spec spec = like.spec();
    spec.layout = layout;
    return allocate(worker, spec, worker.category());
  }

  /// The same local elements under another layout.
  Tensor relabel(const Tensor& x, const Layout* layout, const View& view) {
    const Ref<TensorState> state = make_ref<TensorState>();
    state->worker = &worker;
    state->spec = {x.shape(), x.dtype(), layout};
    state->buffer = x.state().buffer;
    state->view = view;
    return Tensor(state);
  }

  Tensor all_reduce(Tensor x, const AxisList& axes, bool later) {
    const Layout& from = *x.layout();
    Layout reduced = from;
    AxisList rest;
    for (const int axis : from.partial())
      if (!axes.contains(axis)) rest.push_back(axis);
    reduced.set_partial(rest, from.reduction());
    const Layout* to = layouts.intern(reduced);
    x = dense(x);
    // A gradient that nobody else holds is reduced where it lies.
    const bool in_place = later && x.ref().unique() && x.state().buffer.unique();
    const Tensor out = in_place ? relabel(x, to, x.state().view) : make(x, to);
    const Block in = block_of(x.state().view);
    const Ref<Buffer> lent = in_place ? Ref<Buffer>() : x.state().buffer;
    communicate(out, {"all_reduce", axes, out.spec(), in.bytes()}, lent, later,
                [&](Communicator& c) {
                  return c.all_reduce(in, block_of(out.state().view), from.reduction());
                });
    return out;
  }

  /// Parts along one dim, packed one after another in order of position.
  template <typename Each>
  void for_parts(const View& whole, int dim, const std::vector<std::int64_t>& sizes,
                 const View& packed, const Each& each) {
    std::int64_t begin = 0;
    for (const std::int64_t size : sizes) {
      View part = part_of(whole, dim, begin, size);
      View run = part;
      run.strides = dense_strides(run.shape);
      run.data = offset_of(
          packed, begin * (whole.shape.count() / std::max<std::int64_t>(1, whole.shape[dim])));
      each(part, run);
      begin += size;
    }
  }

  static bool outermost(const Shape& shape, int dim) {
    for (int d = 0; d < dim; ++d)
      if (shape[d] != 1) return false;
    return true;
  }

  Tensor reduce_scatter(Tensor x, int dim, const Layout* to, bool later) {
    const DimLayout& shorter = x.layout()->dim(dim);
    const AxisList axes = trailing(to->dim(dim), shorter);
    const Reduction reduction = x.layout()->reduction();
    x = dense(x);
    const View& view = x.state().view;
    std::vector<std::int64_t> sizes = part_sizes(worker, to->dim(dim), shorter);
    const Tensor out = make(x, to);
    View in = view;
    Ref<Buffer> staged;
    if (!outermost(view.shape, dim)) {
      Staging staging = stage(worker, view.shape, view.dtype);
      for_parts(view, dim, sizes, staging.view,
                [&](const View& part, const View& run) { copy(worker, part, run, x.spec()); });
      in = staging.view;
      staged = staging.buffer;
    } else {
      staged = x.state().buffer;
    }
    scale(sizes, view.shape, dim);
    communicate(out, {"reduce_scatter", axes, out.spec(), block_of(in).bytes()}, staged, later,
                [&](Communicator& c) {
                  return c.reduce_scatter(block_of(in), block_of(out.state().view), sizes,
                                          reduction);
                });
    return out;
  }

  static void scale(std::vector<std::int64_t>& sizes, const Shape& shape, int dim) {
    std::int64_t others = 1;
    for (int d = 0; d < shape.ndim(); ++d)
      if (d != dim) others *= shape[d];
    for (std::int64_t& size : sizes) size *= others;
  }

  Tensor all_gather(Tensor x, int dim, const Layout* to) {
    const DimLayout& longer = x.layout()->dim(dim);
    const DimLayout& shorter = to->dim(dim);
    const AxisList axes = trailing(longer, shorter);
    const std::vector<std::int64_t> sizes = part_sizes(worker, longer, shorter);
    x = dense(x);
    const Tensor out = make(x, to);
    const View& result = out.state().view;
    std::vector<std::int64_t> counts = sizes;
    scale(counts, x.state().view.shape, dim);
    const bool direct = outermost(result.shape, dim);
    Staging staging;
    if (!direct) staging = stage(worker, result.shape, result.dtype);
    const View& landing = direct ? result : staging.view;
    communicate(out, {"all_gather", axes, out.spec(), block_of(landing).bytes()}, {}, false,
                [&](Communicator& c) {
                  return c.all_gather(block_of(x.state().view), block_of(landing), counts);
                });
    if (!direct)
      for_parts(result, dim, sizes, landing,
                [&](const View& part, const View& run) { copy(worker, run, part, out.spec()); });
    return out;
  }

  /// Where this rank's part lies in both layouts for every member of a group.
  struct Boxes {
    std::vector<std::array<std::int64_t, max_ndim>> begin;
    std::vector<Shape> extent;
    std::vector<std::int64_t> counts;
  };

  /// The overlap of `mine`'s part of one layout with each member's part of the other, empty where
  /// the member reads its copy from someone else.
  static Boxes overlaps(const Layout& mine, const Layout& theirs, const Layout& from,
                        const Shape& shape, const AxisList& axes, const Coordinates& at) {
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

  static View box(View view, const std::array<std::int64_t, max_ndim>& begin, const Shape& extent) {
    for (int d = 0; d < extent.ndim(); ++d) view = part_of(view, d, begin[d], extent[d]);
    return view;
  }

  static View run_of(const View& packed, std::int64_t begin, const Shape& extent) {
    View run = packed;
    run.data = offset_of(packed, begin);
    run.shape = extent;
    run.strides = dense_strides(extent);
    return run;
  }

  Tensor all_to_all(const Tensor& x, const Layout* to) {
    const Layout* from = x.layout();
    const Shape shape = x.shape();
    AxisList axes;
    for (int axis = 0; axis < mesh.ndim(); ++axis)
      for (int d = 0; d < shape.ndim(); ++d)
        if (!(from->dim(d) == to->dim(d)) &&
            (from->dim(d).axes.contains(axis) || to->dim(d).axes.contains(axis)) &&
            !axes.contains(axis))
          axes.push_back(axis);
    log_overlaps(from, to, shape, axes);
    const Coordinates& at = worker.coordinates();
    const Boxes sends = overlaps(*from, *to, *from, shape, axes, at);
    const Boxes receives = overlaps(*to, *from, *from, shape, axes, at);
    const auto total = [](const Boxes& boxes) {
      std::int64_t sum = 0;
      for (const std::int64_t count : boxes.counts) sum += count;
      return sum;
    };
    const Tensor out = make(x, to);
    const Staging outgoing = stage(worker, Shape{total(sends)}, x.dtype());
    const Staging incoming = stage(worker, Shape{total(receives)}, x.dtype());
    std::int64_t begin = 0;
    for (std::size_t p = 0; p < sends.counts.size(); ++p) {
      copy(worker, box(x.state().view, sends.begin[p], sends.extent[p]),
           run_of(outgoing.view, begin, sends.extent[p]), x.spec());
      begin += sends.counts[p];
    }
    communicate(out, {"all_to_all", axes, out.spec(), shape.count() * width_of(x.dtype())}, {},
                false, [&](Communicator& c) {
                  return c.all_to_all(block_of(outgoing.view), sends.counts,
                                      block_of(incoming.view), receives.counts);
                });
    begin = 0;
    for (std::size_t p = 0; p < receives.counts.size(); ++p) {
      copy(worker, run_of(incoming.view, begin, receives.extent[p]),
           box(out.state().view, receives.begin[p], receives.extent[p]), out.spec());
      begin += receives.counts[p];
    }
    return out;
  }

  void log_overlaps(const Layout* from, const Layout* to, const Shape& shape,
                    const AxisList& axes) {
    std::uint64_t key = hash_join(hash_start, reinterpret_cast<std::uintptr_t>(from));
    key = hash_join(key, reinterpret_cast<std::uintptr_t>(to));
    for (const std::int64_t extent : shape)
      key = hash_join(key, static_cast<std::uint64_t>(extent));
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

  /// A look at this rank's part of what it already holds.
  Tensor look(const Tensor& x, const Layout* to) {
    View view = x.state().view;
    for (int d = 0; d < x.ndim(); ++d) {
      const Coordinates& at = worker.coordinates();
      const std::int64_t begin = to->start(d, at) - x.layout()->start(d, at);
      view = part_of(view, d, begin, to->extent(d, x.shape()[d], at));
    }
    return relabel(x, to, view);
  }

  Tensor move_shards(const Tensor& x, const Layout* to) {
    const Layout& from = *x.layout();
    int differing = 0;
    int last = -1;
    bool finer = true;
    bool coarser = true;
    for (int d = 0; d < x.ndim(); ++d) {
      if (from.dim(d) == to->dim(d)) continue;
      ++differing;
      last = d;
      finer = finer && refines(from, to->dim(d), from.dim(d));
      coarser = coarser && refines(from, from.dim(d), to->dim(d));
    }
    if (differing == 0) return x;
    if (finer) return look(x, to);
    if (coarser && differing == 1) return all_gather(x, last, to);
    return all_to_all(x, to);
  }

  Tensor keep_first(const Tensor& x, const AxisList& axes, const Layout* to) {
    const Tensor out = make(x, to);
    const KeepFirst op(mesh.position(axes, worker.coordinates()) == 0);
    const View* in = &x.state().view;
    const View* result = &out.state().view;
    run_kernel(worker, op, Views(&in, 1), Views(&result, 1), out.spec());
    return out;
  }

  Tensor run(Tensor x, const Layout* target, bool later) {
    (void)ready_view(x);
    (void)worker.local_shape(target, x.shape());
    if (x.layout() == target) return x;
    check(x.layout() != nullptr && target != nullptr,
          "redistribute: a tensor of this rank alone has no layout to move from or to");
    check(target->ndim() == x.ndim(), "redistribute: a layout of {} dims for {} dims",
          target->ndim(), x.ndim());
    for (int d = 0; d < x.ndim(); ++d)
      check(target->dim(d).split == nullptr || target->dim(d).split->total() == x.shape()[d],
            "redistribute: dim {} is {}, the layout cuts {}", d, x.shape()[d],
            target->dim(d).split == nullptr ? 0 : target->dim(d).split->total());
    x = reduce(std::move(x), target, later);
    if (x.layout() == target) return x;
    AxisList added;
    for (const int axis : target->partial())
      if (!x.layout()->partial().contains(axis)) {
        if (x.layout()->placement(axis).kind == Placement::Kind::shard)
          fail(Fault::unsupported, "redistribute: axis {} goes from Shard to Partial",
               mesh.axis(axis).name);
        added.push_back(axis);
      }
    Layout whole = *target;
    whole.set_partial(x.layout()->partial(), x.layout()->reduction());
    x = move_shards(x, layouts.intern(whole));
    if (added.empty()) return x;
    // The maximum of equal values is the value.
    if (target->reduction() == Reduction::max) return relabel(x, target, x.state().view);
    return keep_first(x, added, target);
  }

  /// Makes whole what `target` does not keep Partial.
  Tensor reduce(Tensor x, const Layout* target, bool later) {
    AxisList pending;
    for (const int axis : x.layout()->partial())
      if (!target->partial().contains(axis) || target->reduction() != x.layout()->reduction())
        pending.push_back(axis);
    if (pending.empty()) return x;
    const int dim = scatter_dim(*x.layout(), *target, pending);
    if (dim >= 0) return reduce_scatter(std::move(x), dim, target, later);
    if (later) return all_reduce(std::move(x), pending, only_reduces(*x.layout(), *target));
    const bool all = pending.size() == x.layout()->partial().size();
    if (all && x.state().reduced) return Tensor(x.state().reduced);
    Tensor whole = all_reduce(x, pending, false);
    if (all) x.state().reduced = whole.ref();
    return whole;
  }

  static bool only_reduces(const Layout& from, const Layout& to) {
    for (int d = 0; d < from.ndim(); ++d)
      if (!(from.dim(d) == to.dim(d))) return false;
    return true;
  }

  /// The dim that a reduce-scatter over just the pending axes would leave as the target has it.
  int scatter_dim(const Layout& from, const Layout& to, const AxisList& pending) const {
    if (from.partial().size() != pending.size() || !to.partial().empty()) return -1;
    int found = -1;
    for (int d = 0; d < from.ndim(); ++d) {
      if (from.dim(d) == to.dim(d)) continue;
      if (found >= 0 || !refines(from, to.dim(d), from.dim(d))) return -1;
      if (trailing(to.dim(d), from.dim(d)).mask() != pending.mask()) return -1;
      found = d;
    }
    return found;
  }
};

/// The identity on values, as an op for the tape.
class Redistribute final : public Op {
 public:
  [[nodiscard]] const char* name() const override { return "redistribute"; }
  void gradient(GradientCall& call) const override { call.results[0] = call.incoming[0]; }
};

}  // namespace

Tensor move(const Tensor& x, const Layout* target) {
  return Mover(x.worker()).run(x, target, false);
}

Tensor move_later(Tensor x, const Layout* target) {
  Mover mover(x.worker());
  return mover.run(std::move(x), target, true);
}

Tensor redistribute(const Tensor& x, const Layout* layout) {
  Worker& worker = x.worker();
  if (worker.tape().capture != nullptr) note_reads(worker.tape(), std::span(&x, 1));
  Tensor moved = move(x, layout);
  if (moved == x) return x;
  if (worker.taping() && x.tracked()) {
    // A remembered reduction may stand for several readers; each gets a link of its own.
    const Ref<TensorState> state = make_ref<TensorState>();
    state->worker = &worker;
    state->spec = moved.spec();
    state->buffer = moved.state().buffer;
    state->view = moved.state().view;
    moved = Tensor(state);
    worker.tape().append(make_ref<Redistribute>(), std::span(&x, 1), std::span(&moved, 1));
  }
  return moved;
}

Tensor gather(const Tensor& x) {
  if (x.layout() == nullptr) return x;
  return redistribute(x, x.worker().layouts().replicated(x.ndim()));
}

}  // namespace shardlab
