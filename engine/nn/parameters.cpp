#include "engine/nn/parameters.h"

#include "engine/dispatch/intrinsic.h"
#include "engine/ops/random.h"

namespace shardlab::nn {
namespace {

const Layout* cut_further(LayoutTable& layouts, const Layout& stored, const Shape& shape) {
  const Mesh& mesh = layouts.mesh();
  AxisList axes;
  // The last axis first: gradients are summed along data, so that data must cut what is left.
  for (int a = mesh.ndim() - 1; a >= 0; --a)
    if (stored.placement(a).kind == Placement::Kind::replicate) axes.push_back(a);
  const int ranks = mesh.size(axes);
  int d = 0;
  while (d < shape.ndim() && shape[d] == 1) ++d;
  if (ranks == 1 || d == shape.ndim() || shape.count() < ranks) return &stored;
  DimLayout dim = stored.dim(d);
  std::vector<std::int64_t> parts;
  for (const std::int64_t part : dim.split == nullptr ? std::vector{shape[d]} : dim.split->sizes())
    for (const std::int64_t size : even_split(mesh, axes, part).sizes()) parts.push_back(size);
  for (const int axis : axes) dim.axes.push_back(axis);
  dim.split = layouts.intern(Split::of_sizes(parts));
  Layout further = stored;
  further.set_dim(d, dim);
  return layouts.intern(further);
}

}  // namespace

Parameters Parameters::within(const std::string& name) const {
  Parameters inner = *this;
  inner.prefix_ += name + ".";
  return inner;
}

Tensor Parameters::placed(const std::string& name, const Shape& shape,
                          const std::function<Tensor(const Spec&)>& values) const {
  const AllocateAs category(worker_, Category::parameter);
  const std::string whole = prefix_ + name;
  const ParameterRule* rule = nullptr;
  for (std::size_t r = 0; r < rules_.size() && rule == nullptr; ++r)
    if (whole.ends_with(rules_[r].suffix)) rule = &rules_[r];
  const auto layout_of = [&](const std::vector<Cut> ParameterRule::*cuts) {
    return rule == nullptr ? worker_.layouts().replicated(shape.ndim())
                           : spread(worker_, shape, worker_.dtype(), rule->*cuts).layout;
  };
  const Layout* stored = layout_of(&ParameterRule::stored);
  if (storage_ == Storage::sharded) stored = cut_further(worker_.layouts(), *stored, shape);
  return make_parameter(whole, values({shape, worker_.dtype(), stored}),
                        layout_of(&ParameterRule::used));
}

Tensor Parameters::normal(const std::string& name, const Shape& shape, double deviation) const {
  return placed(name, shape,
                [&](const Spec& spec) { return random_normal(worker_, spec, deviation); });
}

Tensor Parameters::constant(const std::string& name, const Shape& shape, double value) const {
  return placed(name, shape, [&](const Spec& spec) { return full(worker_, spec, value); });
}

}  // namespace shardlab::nn
