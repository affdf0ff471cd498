#include "engine/dispatch/redistribute.h"

#include <algorithm>

#include "engine/core/check.h"
#include "engine/dispatch/all_to_all.h"
#include "engine/dispatch/dispatch.h"
#include "engine/dispatch/intrinsic.h"
#include "engine/dispatch/staging.h"

namespace shardlab {
namespace {

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
  const int parts = mesh.size(trailing(longer, shorter));
  const int first = mesh.position(shorter.axes, worker.coordinates()) * parts;
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(parts));
  for (int i = 0; i < parts; ++i)
    sizes[static_cast<std::size_t>(i)] = longer.split->size(first + i);
  return sizes;
}

struct Mover {
  Worker& worker;
  LayoutTable& layouts;
  const Mesh& mesh;

  explicit Mover(Worker& w) : worker(w), layouts(w.layouts()), mesh(w.mesh()) {}

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
    const Tensor out = in_place ? relabel(x, to, x.state().view) : make_like(x, to);
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
    const std::int64_t row = whole.shape.count() / std::max<std::int64_t>(1, whole.shape[dim]);
    std::int64_t begin = 0;
    for (const std::int64_t size : sizes) {
      const View part = part_of(whole, dim, begin, size);
      each(part, run_of(packed, begin * row, part.shape));
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
    const Tensor out = make_like(x, to);
    View in = view;
    Ref<Buffer> staged;
    if (!outermost(view.shape, dim)) {
      Staging staging = stage(worker, view.shape, view.dtype);
      for_parts(view, dim, sizes, staging.view,
                [&](const View& part, const View& run) { copy_part(worker, part, run, x.spec()); });
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
    const Tensor out = make_like(x, to);
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
      for_parts(result, dim, sizes, landing, [&](const View& part, const View& run) {
        copy_part(worker, run, part, out.spec());
      });
    return out;
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
    const Tensor out = make_like(x, to);
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
    if (later && target->sharded()) x = cut_first(x, *target, pending);
    const int dim = scatter_dim(*x.layout(), *target, pending);
    if (dim >= 0) return reduce_scatter(std::move(x), dim, target, later);
    if (later) return all_reduce(std::move(x), pending, only_reduces(*x.layout(), *target));
    const bool all = pending.size() == x.layout()->partial().size();
    if (all && x.state().reduced) return Tensor(x.state().reduced);
    Tensor whole = all_reduce(x, pending, false);
    if (all) x.state().reduced = whole.ref();
    return whole;
  }

  /// Cut by the axes that hold no pending parts and come before those that do: this moves nothing
  /// and leaves less to reduce.
  Tensor cut_first(const Tensor& x, const Layout& target, const AxisList& pending) {
    Layout cut = *x.layout();
    for (int d = 0; d < x.ndim(); ++d) {
      const DimLayout& to = target.dim(d);
      if (to.split == nullptr || !refines(cut, to, cut.dim(d))) continue;
      AxisList axes = cut.dim(d).axes;
      const int before = axes.size();
      while (axes.size() < to.axes.size() && !pending.contains(to.axes[axes.size()]))
        axes.push_back(to.axes[axes.size()]);
      if (axes.size() > before)
        cut.set_dim(
            d, {axes, layouts.intern(to.split->coarsened(to.split->parts() / mesh.size(axes)))});
    }
    const Layout* layout = layouts.intern(cut);
    if (layout == x.layout()) return x;
    (void)worker.local_shape(layout, x.shape());
    return look(x, layout);
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
