#include "engine/ops/attention.h"

#include "engine/core/check.h"
#include "engine/dispatch/dispatch.h"
#include "engine/dispatch/intrinsic.h"
#include "engine/ops/attention_workspace.h"

namespace shardlab {
namespace {

/// Multiply-adds of the score matrix times a width.
std::int64_t pairs(Views inputs) {
  const Shape& q = inputs[0]->shape;
  return q[0] * q[1] * q[2] * inputs[1]->shape[1];
}

AttentionExtents extents_of(Views inputs) {
  const Shape& q = inputs[0]->shape;
  return {q[1], inputs[1]->shape[1], q[3], inputs[2]->shape[3], width_of(inputs[0]->dtype)};
}

}  // namespace

const Signature& Attention::signature() const {
  static const Signature signature("b q h d!, b k! h d!, b k! h e! -> b q h e!, b q h");
  return signature;
}

Cost Attention::cost(Views inputs, Views outputs) const {
  const std::int64_t widths = inputs[0]->shape[3] + inputs[2]->shape[3];
  return {2 * pairs(inputs) * widths, bytes_of(inputs) + bytes_of(outputs)};
}

std::int64_t Attention::workspace_bytes(Views inputs, Views) const {
  return attention_forward_workspace(extents_of(inputs));
}

void Attention::gradient(GradientCall& call) const {
  const bool through = static_cast<bool>(call.incoming[1]);
  Tensor g = call.incoming[0];
  if (!g) g = full(*call.worker, cotangent_spec(*call.worker, call.outputs[0].spec()), 0);
  std::vector<Tensor> inputs{call.inputs[0],  call.inputs[1],  call.inputs[2],
                             call.outputs[0], call.outputs[1], g};
  if (through) inputs.push_back(call.incoming[1]);
  dispatch(make_ref<AttentionGradient>(scale_, through), inputs, call.results);
}

const Signature& AttentionGradient::signature() const {
  static const Signature plain(
      "b q h d!, b k! h d!, b k! h e!, b q h e!, b q h, b q h e! -> b q h d!, b k! h d!, b k! h "
      "e!");
  static const Signature with_log_sum_exp(
      "b q h d!, b k! h d!, b k! h e!, b q h e!, b q h, b q h e!, b q h -> "
      "b q h d!, b k! h d!, b k! h e!");
  return through_log_sum_exp_ ? with_log_sum_exp : plain;
}

void AttentionGradient::infer(InputSpecs inputs, std::span<Spec> outputs) const {
  for (int i = 0; i < 3; ++i) {
    outputs[i].shape = inputs[i]->shape;
    outputs[i].dtype = inputs[i]->dtype;
  }
}

Cost AttentionGradient::cost(Views inputs, Views outputs) const {
  // Scores, dS k and dS^T q over the key width; dP and P^T g over the value width.
  const std::int64_t widths = 3 * inputs[0]->shape[3] + 2 * inputs[2]->shape[3];
  return {2 * pairs(inputs) * widths, bytes_of(inputs) + bytes_of(outputs)};
}

std::int64_t AttentionGradient::workspace_bytes(Views inputs, Views) const {
  return attention_backward_workspace(extents_of(inputs));
}

Attended attention(const Tensor& q, const Tensor& k, const Tensor& v, double scale) {
  const std::array<Tensor, 3> inputs{q, k, v};
  std::array<Tensor, 2> outputs;
  dispatch(make_ref<Attention>(scale), inputs, outputs);
  return {outputs[0], outputs[1]};
}

}  // namespace shardlab
