#include "engine/ops/elementwise.h"

#include "engine/core/check.h"
#include "engine/dispatch/dispatch.h"
#include "engine/ops/arithmetic.h"

namespace shardlab {
namespace {

constexpr std::array<const char*, function_count> names{"gelu_erf", "gelu_tanh", "tanh", "relu",
                                                        "silu",     "sigmoid",   "exp",  "log"};
constexpr std::array<const char*, function_count> gradient_names{
    "gelu_erf_gradient", "gelu_tanh_gradient", "tanh_gradient", "relu_gradient",
    "silu_gradient",     "sigmoid_gradient",   "exp_gradient",  "log_gradient"};
constexpr std::array<const char*, function_count> second_names{
    "gelu_erf_second", "gelu_tanh_second", "tanh_second", "relu_second",
    "silu_second",     "sigmoid_second",   "exp_second",  "log_second"};

/// Rough flop of one element, so that ratios between ops are right to a few.
std::int64_t flop_of(Function function) {
  switch (function) {
    case Function::relu:
      return 1;
    case Function::exp:
    case Function::log:
      return 8;
    default:
      return 12;
  }
}

Tensor apply(const Tensor& x, Function function) {
  return dispatch(make_ref<Unary>(function), {x});
}

}  // namespace

const char* name_of(Function function) noexcept {
  return names[static_cast<std::size_t>(function)];
}

const Signature& Unary::signature() const {
  static const Signature signature("... -> ...");
  return signature;
}

void Unary::infer(InputSpecs inputs, std::span<Spec> outputs) const {
  outputs[0].shape = inputs[0]->shape;
  outputs[0].dtype = inputs[0]->dtype;
}

Cost Unary::cost(Views, Views outputs) const {
  return {flop_of(function_) * outputs[0]->shape.count(), 2 * bytes_of(outputs)};
}

void Unary::gradient(GradientCall& call) const {
  call.results[0] =
      dispatch(make_ref<UnaryGradient>(function_, 1), {call.incoming[0], call.inputs[0]});
}

const char* UnaryGradient::name() const {
  return (order_ == 1 ? gradient_names : second_names)[static_cast<std::size_t>(function_)];
}

const Signature& UnaryGradient::signature() const {
  static const Signature signature("..., ... -> ...");
  return signature;
}

void UnaryGradient::infer(InputSpecs inputs, std::span<Spec> outputs) const {
  expect(inputs[0]->shape == inputs[1]->shape, "{}: cotangent {} at {}", name(),
         to_string(inputs[0]->shape), to_string(inputs[1]->shape));
  outputs[0].shape = inputs[0]->shape;
  outputs[0].dtype = inputs[0]->dtype;
}

Cost UnaryGradient::cost(Views inputs, Views outputs) const {
  return {(flop_of(function_) + 2) * outputs[0]->shape.count(),
          bytes_of(inputs) + bytes_of(outputs)};
}

void UnaryGradient::gradient(GradientCall& call) const {
  const Tensor& g = call.inputs[0];
  const Tensor& x = call.inputs[1];
  if (call.wants(0))
    call.results[0] = dispatch(make_ref<UnaryGradient>(function_, order_), {call.incoming[0], x});
  if (!call.wants(1)) return;
  if (order_ >= 2)
    fail(Fault::unsupported, "{}: its gradient needs the third derivative, which is not there",
         name());
  call.results[1] =
      dispatch(make_ref<UnaryGradient>(function_, order_ + 1), {multiply(call.incoming[0], g), x});
}

Tensor gelu(const Tensor& x) { return apply(x, Function::gelu_erf); }
Tensor gelu_tanh(const Tensor& x) { return apply(x, Function::gelu_tanh); }
Tensor tanh(const Tensor& x) { return apply(x, Function::tanh); }
Tensor relu(const Tensor& x) { return apply(x, Function::relu); }
Tensor silu(const Tensor& x) { return apply(x, Function::silu); }
Tensor sigmoid(const Tensor& x) { return apply(x, Function::sigmoid); }
Tensor exp(const Tensor& x) { return apply(x, Function::exp); }
Tensor log(const Tensor& x) { return apply(x, Function::log); }

}  // namespace shardlab
