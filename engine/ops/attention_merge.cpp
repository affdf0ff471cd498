#include "engine/ops/attention_merge.h"

#include "engine/dispatch/dispatch.h"
#include "engine/dispatch/intrinsic.h"

namespace shardlab {

const Signature& AttentionMerge::signature() const {
  static const Signature signature("b q h e!, b q h, b q h e!, b q h -> b q h e!, b q h");
  return signature;
}

Cost AttentionMerge::cost(Views inputs, Views outputs) const {
  return {3 * outputs[0]->shape.count(), bytes_of(inputs) + bytes_of(outputs)};
}

void AttentionMerge::gradient(GradientCall& call) const {
  std::array<Tensor, 2> incoming{call.incoming[0], call.incoming[1]};
  for (int o = 0; o < 2; ++o)
    if (!incoming[o])
      incoming[o] = full(*call.worker, cotangent_spec(*call.worker, call.outputs[o].spec()), 0);
  const std::array<Tensor, 8> inputs{call.inputs[0], call.inputs[1],  call.inputs[2],
                                     call.inputs[3], call.outputs[0], call.outputs[1],
                                     incoming[0],    incoming[1]};
  dispatch(make_ref<AttentionMergeGradient>(), inputs, call.results);
}

const Signature& AttentionMergeGradient::signature() const {
  static const Signature signature(
      "b q h e!, b q h, b q h e!, b q h, b q h e!, b q h, b q h e!, b q h -> "
      "b q h e!, b q h, b q h e!, b q h");
  return signature;
}

Cost AttentionMergeGradient::cost(Views inputs, Views outputs) const {
  return {8 * inputs[0]->shape.count(), bytes_of(inputs) + bytes_of(outputs)};
}

Attended attention_merge(const Attended& a, const Attended& b) {
  const std::array<Tensor, 4> inputs{a.output, a.log_sum_exp, b.output, b.log_sum_exp};
  std::array<Tensor, 2> outputs;
  dispatch(make_ref<AttentionMerge>(), inputs, outputs);
  return {outputs[0], outputs[1]};
}

}  // namespace shardlab
