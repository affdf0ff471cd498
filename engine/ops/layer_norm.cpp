#include "engine/ops/layer_norm.h"

#include "engine/dispatch/dispatch.h"

namespace shardlab {

const Signature& LayerNorm::signature() const {
  static const Signature signature("... d!, d!, d! -> ... d!, ..., ...");
  return signature;
}

Cost LayerNorm::cost(Views inputs, Views outputs) const {
  return {8 * inputs[0]->shape.count(), bytes_of(inputs) + bytes_of(outputs)};
}

void LayerNorm::gradient(GradientCall& call) const {
  const std::array<Tensor, 5> inputs{call.inputs[0], call.inputs[1], call.outputs[1],
                                     call.outputs[2], call.incoming[0]};
  dispatch(make_ref<LayerNormGradient>(), inputs, call.results);
}

const Signature& LayerNormGradient::signature() const {
  static const Signature signature("... d!, d!, ..., ..., ... d! -> ... d!, d!, d!");
  return signature;
}

Cost LayerNormGradient::cost(Views inputs, Views outputs) const {
  return {16 * inputs[0]->shape.count(), bytes_of(inputs) + bytes_of(outputs)};
}

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon) {
  const std::array<Tensor, 3> inputs{x, weight, bias};
  std::array<Tensor, 3> outputs;
  dispatch(make_ref<LayerNorm>(epsilon), inputs, outputs);
  return outputs[0];
}

}  // namespace shardlab
