#include "engine/ops/cross_entropy.h"

#include "engine/core/check.h"
#include "engine/dispatch/dispatch.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/reduce.h"

namespace shardlab {
namespace {

std::array<Tensor, 3> rows(const Tensor& logits, const Tensor& targets,
                           const CrossEntropyOptions& options) {
  const std::array<Tensor, 2> inputs{logits, targets};
  std::array<Tensor, 3> outputs;
  dispatch(make_ref<CrossEntropy>(options), inputs, outputs);
  return outputs;
}

}  // namespace

const Signature& CrossEntropy::signature() const {
  static const Signature signature("... c!, ... -> ..., ..., ...");
  return signature;
}

void CrossEntropy::infer(InputSpecs inputs, std::span<Spec> outputs) const {
  const Shape& logits = inputs[0]->shape;
  const Shape& targets = inputs[1]->shape;
  check(inputs[1]->dtype == Dtype::int64, "cross_entropy: targets are {}, int64 is needed",
        name_of(inputs[1]->dtype));
  check(targets.ndim() + 1 == logits.ndim(), "cross_entropy: logits {}, targets {}",
        to_string(logits), to_string(targets));
  for (int d = 0; d < targets.ndim(); ++d)
    check(targets[d] == logits[d], "cross_entropy: dim {} is {} in logits, {} in targets", d,
          logits[d], targets[d]);
  for (Spec& output : outputs) {
    output.shape = targets;
    output.dtype = inputs[0]->dtype;
  }
}

Cost CrossEntropy::cost(Views inputs, Views outputs) const {
  return {12 * inputs[0]->shape.count(), bytes_of(inputs) + bytes_of(outputs)};
}

void CrossEntropy::gradient(GradientCall& call) const {
  check(static_cast<bool>(call.incoming[0]), "cross_entropy: a gradient of the log-sum-exp");
  if (call.wants(0))
    call.results[0] = dispatch(make_ref<CrossEntropyGradient>(options_),
                               {call.inputs[0], call.inputs[1], call.outputs[1], call.incoming[0]});
}

const Signature& CrossEntropyGradient::signature() const {
  static const Signature signature("... c!, ..., ..., ... -> ... c!");
  return signature;
}

void CrossEntropyGradient::infer(InputSpecs inputs, std::span<Spec> outputs) const {
  outputs[0].shape = inputs[0]->shape;
  outputs[0].dtype = inputs[0]->dtype;
}

Cost CrossEntropyGradient::cost(Views inputs, Views outputs) const {
  return {12 * inputs[0]->shape.count(), bytes_of(inputs) + bytes_of(outputs)};
}

Tensor cross_entropy_rows(const Tensor& logits, const Tensor& targets,
                          const CrossEntropyOptions& options) {
  return rows(logits, targets, options)[0];
}

Tensor cross_entropy(const Tensor& logits, const Tensor& targets,
                     const CrossEntropyOptions& options) {
  const std::array<Tensor, 3> row = rows(logits, targets, options);
  if (!options.ignore_index) return mean(row[0]);
  return divide(sum(row[0]), sum(row[2]));
}

}  // namespace shardlab
