#include "engine/core/layout.h"

#include "engine/core/check.h"

namespace shardlab {

const char* name_of(Reduction reduction) noexcept {
  return reduction == Reduction::sum ? "sum" : "max";
}

Placement Layout::placement(int axis) const {
  if (partial_.contains(axis)) return {Placement::Kind::partial, -1, reduction_};
  for (int d = 0; d < ndim_; ++d)
    if (dims_[d].axes.contains(axis)) return {Placement::Kind::shard, d, Reduction::sum};
  return {};
}

bool Layout::sharded() const {
  for (int d = 0; d < ndim_; ++d)
    if (dims_[d].split != nullptr) return true;
  return false;
}

std::int64_t Layout::start(int d, const Coordinates& at) const {
  const DimLayout& dim = dims_[d];
  return dim.split == nullptr ? 0 : dim.split->offset(mesh_->position(dim.axes, at));
}

std::int64_t Layout::extent(int d, std::int64_t whole, const Coordinates& at) const {
  const DimLayout& dim = dims_[d];
  return dim.split == nullptr ? whole : dim.split->size(mesh_->position(dim.axes, at));
}

Shape Layout::local_shape(const Shape& shape, const Coordinates& at) const {
  Shape local = shape;
  for (int d = 0; d < ndim_; ++d) local[d] = extent(d, shape[d], at);
  return local;
}

bool operator==(const Layout& a, const Layout& b) {
  if (a.ndim_ != b.ndim_ || !(a.partial_ == b.partial_) || a.reduction_ != b.reduction_)
    return false;
  for (int d = 0; d < a.ndim_; ++d)
    if (!(a.dims_[d] == b.dims_[d])) return false;
  return a.mesh_ == b.mesh_;
}

std::uint64_t Layout::hash() const {
  std::uint64_t hash = hash_join(hash_start, static_cast<std::uint64_t>(ndim_));
  const auto join_axes = [&hash](const AxisList& axes) {
    for (const int axis : axes) hash = hash_join(hash, static_cast<std::uint64_t>(axis) + 1);
    hash = hash_join(hash, 0);
  };
  join_axes(partial_);
  hash = hash_join(hash, static_cast<std::uint64_t>(reduction_));
  for (int d = 0; d < ndim_; ++d) {
    join_axes(dims_[d].axes);
    hash = hash_join(hash, reinterpret_cast<std::uintptr_t>(dims_[d].split));
  }
  return hash;
}

Split even_split(const Mesh& mesh, const AxisList& axes, std::int64_t total,
                 std::int64_t multiple) {
  std::vector<int> groups;
  for (const int axis : axes) groups.push_back(mesh.extent(axis));
  return Split::nested(total, groups, multiple);
}

std::string to_string(const Layout& layout, const Shape& shape) {
  std::string text = "[";
  for (int d = 0; d < layout.ndim(); ++d) {
    const DimLayout& dim = layout.dim(d);
    text += fmt::format("{}{}", d == 0 ? "" : ", ", shape[d]);
    if (dim.split != nullptr)
      text += fmt::format("({}: {})", names_of(layout.mesh(), dim.axes), to_string(*dim.split));
  }
  text += "]";
  if (!layout.partial().empty())
    text += fmt::format(" partial {}({})", name_of(layout.reduction()),
                        names_of(layout.mesh(), layout.partial()));
  return text;
}

LayoutTable::LayoutTable(Mesh mesh) : mesh_(std::move(mesh)) {
  for (int n = 0; n <= max_ndim; ++n) replicated_[n] = intern(Layout(mesh_, n));
}

const Split* LayoutTable::intern(Split split) {
  return splits_.insert(std::make_unique<const Split>(std::move(split))).first->get();
}

const Layout* LayoutTable::intern(Layout layout) {
  std::uint32_t used = 0;
  const auto without_single_ranks = [&](const AxisList& axes) {
    AxisList kept;
    for (const int axis : axes) {
      expect((used >> axis & 1U) == 0, "axis {} cuts a tensor twice", mesh_.axis(axis).name);
      used |= 1U << axis;
      if (mesh_.extent(axis) > 1) kept.push_back(axis);
    }
    return kept;
  };
  const AxisList pending = without_single_ranks(layout.partial());
  // Pending pieces have no order.
  AxisList ordered;
  for (int axis = 0; axis < mesh_.ndim(); ++axis)
    if (pending.contains(axis)) ordered.push_back(axis);
  layout.set_partial(ordered, layout.reduction());
  for (int d = 0; d < layout.ndim(); ++d) {
    DimLayout dim = layout.dim(d);
    if (dim.split == nullptr) continue;
    dim.axes = without_single_ranks(dim.axes);
    expect(dim.split->parts() == mesh_.size(dim.axes), "dim {} has {} parts on {} ranks", d,
           dim.split->parts(), mesh_.size(dim.axes));
    if (dim.axes.empty()) dim.split = nullptr;
    layout.set_dim(d, dim);
  }
  return layouts_.insert(std::make_unique<const Layout>(layout)).first->get();
}

}  // namespace shardlab
