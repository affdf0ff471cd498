#include "engine/dispatch/create.h"

#include <algorithm>

#include "engine/core/check.h"
#include "engine/dispatch/dispatch.h"
#include "engine/dispatch/redistribute.h"

namespace shardlab {
namespace {

/// Calls `each(local, whole)` with the flat index of every local element in both numberings.
template <typename Each>
void for_local(const Worker& worker, const Spec& spec, const Shape& local, const Each& each) {
  const Strides strides = dense_strides(spec.shape);
  std::array<std::int64_t, max_ndim> at{};
  std::int64_t base = 0;
  if (spec.layout != nullptr)
    for (int d = 0; d < local.ndim(); ++d)
      base += spec.layout->start(d, worker.coordinates()) * strides[d];
  for (std::int64_t i = 0; i < local.count(); ++i) {
    std::int64_t whole = base;
    for (int d = 0; d < local.ndim(); ++d) whole += at[d] * strides[d];
    each(i, whole);
    for (int d = local.ndim() - 1; d >= 0 && ++at[d] == local[d]; --d) at[d] = 0;
  }
}

template <typename Visit>
void with_type(Dtype dtype, const Visit& visit) {
  switch (dtype) {
    case Dtype::float64:
      return visit(double{});
    case Dtype::float32:
      return visit(float{});
    case Dtype::int64:
      return visit(std::int64_t{});
    default:
      fail(Fault::unsupported, "values of {} cannot be given or read yet", name_of(dtype));
  }
}

}  // namespace

Spec spread(Worker& worker, const Shape& shape, Dtype dtype, std::span<const Cut> cuts) {
  LayoutTable& layouts = worker.layouts();
  const Mesh& mesh = worker.mesh();
  Layout layout(mesh, shape.ndim());
  for (int d = 0; d < shape.ndim(); ++d) {
    AxisList axes;
    std::int64_t multiple = 1;
    for (const Cut& cut : cuts) {
      const int axis = mesh.find(cut.axis);
      if (resolve_dim(cut.dim, shape.ndim(), "spread") != d || axis < 0) continue;
      axes.push_back(axis);
      multiple = std::max(multiple, cut.multiple);
    }
    if (axes.empty()) continue;
    const Split split = even_split(mesh, axes, shape[d], multiple);
    if (shape[d] / multiple < mesh.size(axes))
      worker.add_note(
          fmt::format("{} of {} ranks of axis {} are left empty: an extent of {} in "
                      "units of {}",
                      mesh.size(axes) - shape[d] / multiple, mesh.size(axes), names_of(mesh, axes),
                      shape[d], multiple));
    layout.set_dim(d, {axes, layouts.intern(split)});
  }
  return {shape, dtype, layouts.intern(layout)};
}

Tensor from_values(Worker& worker, const Spec& spec, std::span<const double> whole) {
  check(static_cast<std::int64_t>(whole.size()) == spec.shape.count(),
        "from_values: {} values for {}", whole.size(), to_string(spec.shape));
  const Tensor tensor = allocate(worker, spec, worker.category());
  with_type(spec.dtype, [&](auto zero) {
    std::vector<decltype(zero)> local(static_cast<std::size_t>(tensor.state().view.shape.count()));
    for_local(worker, spec, tensor.state().view.shape, [&](std::int64_t i, std::int64_t w) {
      local[i] = static_cast<decltype(zero)>(whole[w]);
    });
    write(tensor, local.data());
  });
  return tensor;
}

Tensor make_leaf(Tensor x) {
  x.state().link = {-1, 0, true};
  return x;
}

Tensor make_parameter(const std::string& name, Tensor values, const Layout* used) {
  const Ref<Parameter> parameter = make_ref<Parameter>();
  parameter->name = name;
  parameter->used = used;
  values.state().parameter = parameter;
  values.worker().add_parameter(values);
  return make_leaf(std::move(values));
}

std::vector<double> values_of(const Tensor& x) {
  const NoGrad no_grad(x.worker());
  const Tensor whole = gather(x);
  std::vector<double> values;
  with_type(x.dtype(), [&](auto zero) {
    std::vector<decltype(zero)> raw(static_cast<std::size_t>(whole.shape().count()));
    read(whole, raw.data());
    values.assign(raw.begin(), raw.end());
  });
  return values;
}

double value_of(const Tensor& x) {
  check(x.shape().count() == 1, "value_of: {} has more than one element", to_string(x.shape()));
  return values_of(x)[0];
}

}  // namespace shardlab
