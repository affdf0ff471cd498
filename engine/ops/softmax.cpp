#include "engine/ops/softmax.h"

#include "engine/core/check.h"
#include "engine/dispatch/dispatch.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/elementwise.h"
#include "engine/ops/reduce.h"

namespace shardlab {

void Softmax::infer(InputSpecs inputs, std::span<Spec> outputs) const {
  outputs[0].shape = inputs[0]->shape;
  outputs[0].dtype = inputs[0]->dtype;
}

Placing Softmax::placing(InputSpecs inputs) const {
  const Shape& shape = inputs[0]->shape;
  Placing placing;
  for (int d = 0; d < shape.ndim(); ++d) {
    placing.input[0][d].letter = placing.add(shape[d], d == dim_);
    placing.output[0][d] = placing.input[0][d];
  }
  return placing;
}

std::uint64_t Softmax::attributes() const {
  return static_cast<std::uint64_t>(dim_) << 1 | (logarithm_ ? 1U : 0U);
}

Cost Softmax::cost(Views inputs, Views outputs) const {
  return {12 * inputs[0]->shape.count(), bytes_of(inputs) + bytes_of(outputs)};
}

void Softmax::gradient(GradientCall& call) const {
  const Tensor& g = call.incoming[0];
  const Tensor& y = call.outputs[0];
  const SumOptions along{{dim_}, true};
  call.results[0] = logarithm_ ? subtract(g, multiply(exp(y), sum(g, along)))
                               : multiply(y, subtract(g, sum(multiply(g, y), along)));
}

Tensor softmax(const Tensor& x, int dim) {
  return dispatch(make_ref<Softmax>(resolve_dim(dim, x.ndim(), "softmax"), false), {x});
}

Tensor log_softmax(const Tensor& x, int dim) {
  return dispatch(make_ref<Softmax>(resolve_dim(dim, x.ndim(), "log_softmax"), true), {x});
}

}  // namespace shardlab
