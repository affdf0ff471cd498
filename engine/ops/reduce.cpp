#include "engine/ops/reduce.h"

#include "engine/core/check.h"
#include "engine/dispatch/dispatch.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/reshape.h"

namespace shardlab {
namespace {

std::uint32_t mask_of(const Tensor& x, const std::vector<int>& dims, const char* op) {
  if (dims.empty()) return (1U << x.ndim()) - 1;
  std::uint32_t mask = 0;
  for (const int dim : dims) mask |= 1U << resolve_dim(dim, x.ndim(), op);
  return mask;
}

bool summed(std::uint32_t mask, int dim) { return (mask >> dim & 1U) != 0; }

}  // namespace

void Sum::infer(InputSpecs inputs, std::span<Spec> outputs) const {
  const Shape& shape = inputs[0]->shape;
  Shape result;
  for (int d = 0; d < shape.ndim(); ++d) {
    if (!summed(dims_, d))
      result.push_back(shape[d]);
    else if (keep_)
      result.push_back(1);
  }
  outputs[0].shape = result;
  outputs[0].dtype = inputs[0]->dtype;
}

Placing Sum::placing(InputSpecs inputs) const {
  const Shape& shape = inputs[0]->shape;
  Placing placing;
  int out = 0;
  for (int d = 0; d < shape.ndim(); ++d) {
    placing.input[0][d].letter = placing.add(shape[d]);
    if (!summed(dims_, d))
      placing.output[0][out++] = placing.input[0][d];
    else if (keep_)
      ++out;
  }
  placing.pass = PartialPass::sum;
  return placing;
}

Cost Sum::cost(Views inputs, Views outputs) const {
  return {inputs[0]->shape.count(), bytes_of(inputs) + bytes_of(outputs)};
}

void Sum::gradient(GradientCall& call) const {
  Shape kept = call.specs[0].shape;
  for (int d = 0; d < kept.ndim(); ++d)
    if (summed(dims_, d)) kept[d] = 1;
  call.results[0] = expand(reshape(call.incoming[0], kept), call.specs[0]);
}

Tensor sum(const Tensor& x, const SumOptions& options) {
  return dispatch(make_ref<Sum>(mask_of(x, options.dims, "sum"), options.keep), {x});
}

Tensor mean(const Tensor& x, const SumOptions& options) {
  const std::uint32_t mask = mask_of(x, options.dims, "mean");
  std::int64_t count = 1;
  for (int d = 0; d < x.ndim(); ++d)
    if (summed(mask, d)) count *= x.shape()[d];
  check(count > 0, "mean: no elements in {}", to_string(x.shape()));
  const Tensor total = dispatch(make_ref<Sum>(mask, options.keep), {x});
  return scale(total, 1.0 / static_cast<double>(count));
}

}  // namespace shardlab
