#include "engine/ops/reshape.h"

#include <vector>

#include "engine/core/check.h"
#include "engine/dispatch/dispatch.h"

namespace shardlab {
namespace {

/// A run of dims of one shape that holds the elements of a run of dims of another.
struct Group {
  int in_begin = 0, in_end = 0;
  int out_begin = 0, out_end = 0;
};

/// The smallest groups, in order; dims of extent 1 join a neighbour or stand alone on one side.
std::vector<Group> groups_of(const Shape& in, const Shape& out) {
  std::vector<Group> groups;
  int i = 0;
  int o = 0;
  while (i < in.ndim() || o < out.ndim()) {
    Group group{i, i, o, o};
    std::int64_t in_count = 1;
    std::int64_t out_count = 1;
    if (i < in.ndim()) in_count = in[i++];
    if (o < out.ndim()) out_count = out[o++];
    while (in_count != out_count) {
      if (in_count < out_count && i < in.ndim())
        in_count *= in[i++];
      else if (o < out.ndim())
        out_count *= out[o++];
      else
        break;
    }
    group.in_end = i;
    group.out_end = o;
    groups.push_back(group);
  }
  return groups;
}

/// The outermost dim of a run that is not 1, or its first.
int leader(const Shape& shape, int begin, int end) {
  for (int d = begin; d < end; ++d)
    if (shape[d] != 1) return d;
  return begin;
}

std::int64_t inner(const Shape& shape, int dim, int end) {
  std::int64_t count = 1;
  for (int d = dim + 1; d < end; ++d) count *= shape[d];
  return count;
}

}  // namespace

void Reshape::infer(InputSpecs inputs, std::span<Spec> outputs) const {
  check(inputs[0]->shape.count() == shape_.count(), "reshape: {} has {} elements, {} has {}",
        to_string(inputs[0]->shape), inputs[0]->shape.count(), to_string(shape_), shape_.count());
  outputs[0].shape = shape_;
  outputs[0].dtype = inputs[0]->dtype;
}

Placing Reshape::placing(InputSpecs inputs) const {
  const Shape& in = inputs[0]->shape;
  Placing placing;
  placing.pass = PartialPass::any;
  if (in.count() == 0) return placing;
  for (const Group& group : groups_of(in, shape_)) {
    if (group.in_begin == group.in_end || group.out_begin == group.out_end) continue;
    const int from = leader(in, group.in_begin, group.in_end);
    const int to = leader(shape_, group.out_begin, group.out_end);
    const int letter = placing.add(in[from]);
    placing.input[0][from].letter = letter;
    DimUse& use = placing.output[0][to];
    use.letter = letter;
    use.numerator = inner(in, from, group.in_end);
    use.denominator = inner(shape_, to, group.out_end);
  }
  return placing;
}

std::uint64_t Reshape::attributes() const {
  std::uint64_t hash = hash_start;
  for (const std::int64_t extent : shape_)
    hash = hash_join(hash, static_cast<std::uint64_t>(extent));
  return hash;
}

bool Reshape::look(const View& input, const Shape& /*start*/, int /*output*/, View& view) const {
  view.data = input.data;
  if (is_dense(input.shape, input.strides)) return true;
  // Strided memory can be seen so only if every group of dims is evenly spaced inside.
  Strides strides{};
  for (const Group& group : groups_of(input.shape, view.shape)) {
    std::int64_t step = 1;
    std::int64_t even = 0;
    for (int d = group.in_end - 1; d >= group.in_begin; --d) {
      if (input.shape[d] == 1) continue;
      if (even == 0)
        step = input.strides[d];
      else if (input.strides[d] != even)
        return false;
      even = input.strides[d] * input.shape[d];
    }
    for (int d = group.out_end - 1; d >= group.out_begin; --d) {
      strides[d] = step;
      step *= view.shape[d];
    }
  }
  view.strides = strides;
  return true;
}

void Reshape::gradient(GradientCall& call) const {
  call.results[0] = reshape(call.incoming[0], call.specs[0].shape);
}

Tensor reshape(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  return dispatch(make_ref<Reshape>(shape), {x});
}

Tensor reshape(const Tensor& x, std::span<const std::int64_t> extents) {
  std::vector<std::int64_t> known(extents.begin(), extents.end());
  std::int64_t product = 1;
  int open = -1;
  for (std::size_t d = 0; d < known.size(); ++d) {
    if (known[d] != -1) {
      product *= known[d];
      continue;
    }
    check(open < 0, "reshape: two extents are -1");
    open = static_cast<int>(d);
  }
  if (open >= 0) {
    check(product > 0 && x.shape().count() % product == 0,
          "reshape: {} elements do not fill {} evenly", x.shape().count(), product);
    known[open] = x.shape().count() / product;
  }
  return reshape(x, Shape(known));
}

}  // namespace shardlab
