#include "tests/support/world.h"

#include <mutex>

#include "engine/core/check.h"
#include "engine/dispatch/create.h"
#include "engine/dispatch/dispatch.h"
#include "engine/dispatch/redistribute.h"
#include "tools/executions.h"

namespace shardlab::test {
namespace {

/// What the member at `position` of `members` holds of a pending value.
double piece_of(double value, Reduction reduction, int position, int members, std::int64_t i) {
  if (reduction == Reduction::max) {
    const bool holder = i % members == position;
    return holder ? value : value - 0.25 * static_cast<double>(1 + (i + position) % 3);
  }
  // Multiples of 1/8, so that the sum of the pieces of a number of few bits is exact.
  const auto part = [&](int p) { return 0.125 * static_cast<double>((i * 5 + p * 3) % 7 - 3); };
  if (position + 1 < members) return part(position);
  double rest = value;
  for (int p = 0; p + 1 < members; ++p) rest -= part(p);
  return rest;
}

}  // namespace

void run_on(const World& world, const std::function<void(Worker&, int rank)>& program) {
  Execution execution = world.meta ? meta_execution() : cpu_execution();
  if (world.backend) execution.backend = world.backend;
  LaunchOptions options;
  options.mesh = Mesh::parse(world.mesh);
  options.precision.dtype = world.dtype;
  options.seed = world.seed;
  launch(execution, options, program);
}

Values on_all(const World& world, const std::function<Values(Worker&)>& function) {
  const std::vector<Values> all = on_ranks<Values>(world, function);
  for (const Values& values : all) EXPECT_TRUE(same(values, all[0])) << "ranks differ";
  return all[0];
}

std::string error_of(const World& world, const std::function<void(Worker&)>& program) {
  try {
    run_on(world, [&](Worker& worker, int) { program(worker); });
  } catch (const Error& error) {
    return fmt::format("{}: {}", name_of(error.fault()), error.what());
  }
  return {};
}

std::string to_string(const Placed& placed) {
  std::string text;
  for (const Parts& parts : placed.cuts) {
    std::vector<int> axes(parts.axes.begin(), parts.axes.end());
    text += fmt::format("{}dim {} over axes {} as {}", text.empty() ? "" : ", ", parts.dim,
                        fmt::join(axes, "+"), fmt::join(parts.sizes, ","));
  }
  if (!placed.partial.empty()) {
    std::vector<int> axes(placed.partial.begin(), placed.partial.end());
    text += fmt::format("{}partial {} over axes {}", text.empty() ? "" : ", ",
                        name_of(placed.reduction), fmt::join(axes, "+"));
  }
  return text.empty() ? "whole" : text;
}

const Layout* layout_of(Worker& worker, int ndim, const Placed& placed) {
  LayoutTable& table = worker.layouts();
  Layout layout(table.mesh(), ndim);
  for (const Parts& parts : placed.cuts)
    layout.set_dim(parts.dim, {parts.axes, table.intern(Split::of_sizes(parts.sizes))});
  layout.set_partial(placed.partial, placed.reduction);
  return table.intern(layout);
}

Placed cut(int dim, std::vector<std::int64_t> sizes) {
  return {{{dim, {0}, std::move(sizes)}}, {}, Reduction::sum};
}

Tensor make(Worker& worker, const Values& values, const Placed& placed, bool leaf) {
  return make_of(worker, worker.dtype(), values, placed, leaf);
}

Tensor make_of(Worker& worker, Dtype dtype, const Values& values, const Placed& placed, bool leaf) {
  const Layout* layout = layout_of(worker, values.shape.ndim(), placed);
  const AxisList& pending = layout->partial();
  std::vector<double> mine = values.data;
  if (!pending.empty()) {
    const int position = worker.mesh().position(pending, worker.coordinates());
    for (std::size_t i = 0; i < mine.size(); ++i)
      mine[i] = piece_of(mine[i], layout->reduction(), position, worker.mesh().size(pending),
                         static_cast<std::int64_t>(i));
  }
  const Tensor tensor = from_values(worker, {values.shape, dtype, layout}, mine);
  return leaf ? make_leaf(tensor) : tensor;
}

Tensor parameter_of(Worker& worker, const std::string& name, const Values& values,
                    const Placed& stored, const Placed& used) {
  const AllocateAs allocate_as(worker, Category::parameter);
  return make_parameter(name, make(worker, values, stored),
                        layout_of(worker, values.shape.ndim(), used));
}

Values local_values(const Tensor& tensor) {
  const Shape shape = ready_view(tensor).shape;
  const auto count = static_cast<std::size_t>(shape.count());
  Values values{shape, std::vector<double>(count)};
  if (tensor.dtype() == Dtype::float32) {
    std::vector<float> raw(count);
    read(tensor, raw.data());
    values.data.assign(raw.begin(), raw.end());
  } else if (tensor.dtype() == Dtype::int64) {
    std::vector<std::int64_t> raw(count);
    read(tensor, raw.data());
    values.data.assign(raw.begin(), raw.end());
  } else {
    read(tensor, values.data.data());
  }
  return values;
}

Values whole_values(const Tensor& tensor) { return {tensor.shape(), values_of(tensor)}; }

}  // namespace shardlab::test
