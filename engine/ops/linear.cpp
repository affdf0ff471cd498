#include "engine/ops/linear.h"

#include "engine/core/check.h"
#include "engine/dispatch/dispatch.h"
#include "engine/dispatch/intrinsic.h"
#include "engine/ops/permute.h"
#include "engine/ops/reduce.h"

namespace shardlab {
namespace {

std::int64_t last(const Shape& shape) { return shape[shape.ndim() - 1]; }

/// Rows of a matrix made of all leading dims.
std::int64_t rows_of(const Shape& shape) {
  std::int64_t rows = 1;
  for (int d = 0; d + 1 < shape.ndim(); ++d) rows *= shape[d];
  return rows;
}

}  // namespace

const Signature& Linear::signature() const {
  static const Signature plain("... i, o i -> ... o");
  // Pieces of a contraction would each add the bias; nn adds it after the sum there.
  static const Signature biased("... i!, o i!, o -> ... o");
  return with_bias_ ? biased : plain;
}

void Linear::infer(InputSpecs inputs, std::span<Spec> outputs) const {
  const Shape& x = inputs[0]->shape;
  const Shape& w = inputs[1]->shape;
  const bool fits =
      x.ndim() >= 1 && w.ndim() == 2 && last(x) == w[1] && inputs[0]->dtype == inputs[1]->dtype &&
      (!with_bias_ || (inputs[2]->shape == Shape{w[0]} && inputs[2]->dtype == inputs[0]->dtype));
  if (!fits) return Op::infer(inputs, outputs);
  outputs[0].shape = x;
  outputs[0].shape[x.ndim() - 1] = w[0];
  outputs[0].dtype = inputs[0]->dtype;
}

Cost Linear::cost(Views inputs, Views outputs) const {
  return {2 * outputs[0]->shape.count() * inputs[1]->shape[1],
          bytes_of(inputs) + bytes_of(outputs)};
}

void Linear::gradient(GradientCall& call) const {
  const Tensor& g = call.incoming[0];
  if (call.wants(0)) call.results[0] = linear(g, transpose(call.inputs[1], 0, 1));
  if (call.wants(1)) call.results[1] = outer_sum(g, call.inputs[0]);
  if (with_bias_ && call.wants(2)) call.results[2] = sum_to(g, call.specs[2].shape);
}

const Signature& OuterSum::signature() const {
  static const Signature signature("... o, ... i -> o i");
  return signature;
}

void OuterSum::infer(InputSpecs inputs, std::span<Spec> outputs) const {
  const Shape& a = inputs[0]->shape;
  const Shape& b = inputs[1]->shape;
  check(a.ndim() == b.ndim(), "outer_sum: {} and {}", to_string(a), to_string(b));
  for (int d = 0; d + 1 < a.ndim(); ++d)
    check(a[d] == b[d], "outer_sum: dim {} is {} and {}", d, a[d], b[d]);
  outputs[0].shape = {last(a), last(b)};
  outputs[0].dtype = inputs[0]->dtype;
}

Cost OuterSum::cost(Views inputs, Views outputs) const {
  return {2 * rows_of(inputs[0]->shape) * outputs[0]->shape.count(),
          bytes_of(inputs) + bytes_of(outputs)};
}

void OuterSum::gradient(GradientCall& call) const {
  const Tensor& g = call.incoming[0];
  if (call.wants(0)) call.results[0] = linear(call.inputs[1], g);
  if (call.wants(1)) call.results[1] = linear(call.inputs[0], transpose(g, 0, 1));
}

Tensor linear(const Tensor& x, const Tensor& weight) {
  return dispatch(make_ref<Linear>(false), {x, weight});
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (!bias) return linear(x, weight);
  return dispatch(make_ref<Linear>(true), {x, weight, bias});
}

Tensor outer_sum(const Tensor& a, const Tensor& b) {
  return dispatch(make_ref<OuterSum>(), {a, b});
}

}  // namespace shardlab
