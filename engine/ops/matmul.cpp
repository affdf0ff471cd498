#include "engine/ops/matmul.h"

#include "engine/dispatch/dispatch.h"
#include "engine/dispatch/intrinsic.h"
#include "engine/ops/permute.h"

namespace shardlab {

const Signature& Matmul::signature() const {
  static const Signature signature("... m k, ... k n -> ... m n");
  return signature;
}

Cost Matmul::cost(Views inputs, Views outputs) const {
  const Shape& a = inputs[0]->shape;
  return {2 * outputs[0]->shape.count() * a[a.ndim() - 1], bytes_of(inputs) + bytes_of(outputs)};
}

void Matmul::gradient(GradientCall& call) const {
  const Tensor& g = call.incoming[0];
  if (call.wants(0))
    call.results[0] = sum_to(matmul(g, transpose(call.inputs[1], -1, -2)), call.specs[0].shape);
  if (call.wants(1))
    call.results[1] = sum_to(matmul(transpose(call.inputs[0], -1, -2), g), call.specs[1].shape);
}

Tensor matmul(const Tensor& a, const Tensor& b) { return dispatch(make_ref<Matmul>(), {a, b}); }

}  // namespace shardlab
