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
  int best = -1;
  for (int d = 0; d < shape.ndim(); ++d) {
    if (stored.dim(d).split != nullptr) continue;
    if (best < 0 || (shape[best] < ranks && shape[d] > shape[best])) best = d;
  }
  if (ranks == 1 || best < 0 || shape.count() < ranks) return &stored;
  Layout further = stored;
  further.set_dim(best, {axes, layouts.intern(even_split(mesh, axes, shape[best]))});
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
