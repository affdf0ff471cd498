#include "engine/ops/arithmetic.h"

#include "engine/core/check.h"
#include "engine/dispatch/dispatch.h"

namespace shardlab {
namespace {

constexpr std::array<const char*, 3> names{"subtract", "multiply", "divide"};

void same_as_input(InputSpecs inputs, std::span<Spec> outputs) {
  outputs[0].shape = inputs[0]->shape;
  outputs[0].dtype = inputs[0]->dtype;
}

}  // namespace

const char* Binary::name() const { return names[static_cast<std::size_t>(kind_)]; }

const Signature& Binary::signature() const {
  static const Signature signature("..., ... -> ...");
  return signature;
}

void Binary::infer(InputSpecs inputs, std::span<Spec> outputs) const {
  if (inputs[0]->shape == inputs[1]->shape && inputs[0]->dtype == inputs[1]->dtype)
    return same_as_input(inputs, outputs);
  Op::infer(inputs, outputs);
}

Placing Binary::placing(InputSpecs inputs) const {
  Placing placing = Op::placing(inputs);
  if (kind_ == Kind::subtract) placing.pass = PartialPass::sum;
  return placing;
}

Saves Binary::saves() const {
  return kind_ == Kind::subtract ? Saves{} : kind_ == Kind::multiply ? Saves{3, 0} : Saves{3, 1};
}

void Binary::gradient(GradientCall& call) const {
  const Tensor& g = call.incoming[0];
  const auto set = [&call](int input, const Tensor& gradient) {
    call.results[input] = sum_to(gradient, call.specs[input].shape);
  };
  switch (kind_) {
    case Kind::subtract:
      if (call.wants(0)) set(0, g);
      if (call.wants(1)) set(1, scale(g, -1));
      return;
    case Kind::multiply:
      if (call.wants(0)) set(0, multiply(g, call.inputs[1]));
      if (call.wants(1)) set(1, multiply(g, call.inputs[0]));
      return;
    case Kind::divide:
      if (call.wants(0)) set(0, divide(g, call.inputs[1]));
      if (call.wants(1)) set(1, scale(divide(multiply(g, call.outputs[0]), call.inputs[1]), -1));
      return;
  }
}

const Signature& Scale::signature() const {
  static const Signature signature("... -> ...");
  return signature;
}
void Scale::infer(InputSpecs inputs, std::span<Spec> outputs) const {
  same_as_input(inputs, outputs);
}
Placing Scale::placing(InputSpecs inputs) const {
  Placing placing = Op::placing(inputs);
  placing.pass = PartialPass::sum;
  return placing;
}
void Scale::gradient(GradientCall& call) const {
  call.results[0] = scale(call.incoming[0], factor_);
}

const Signature& Shift::signature() const {
  static const Signature signature("... -> ...");
  return signature;
}
void Shift::infer(InputSpecs inputs, std::span<Spec> outputs) const {
  same_as_input(inputs, outputs);
}
void Shift::gradient(GradientCall& call) const { call.results[0] = call.incoming[0]; }

Tensor subtract(const Tensor& a, const Tensor& b) {
  return dispatch(make_ref<Binary>(Binary::Kind::subtract), {a, b});
}
Tensor multiply(const Tensor& a, const Tensor& b) {
  return dispatch(make_ref<Binary>(Binary::Kind::multiply), {a, b});
}
Tensor divide(const Tensor& a, const Tensor& b) {
  return dispatch(make_ref<Binary>(Binary::Kind::divide), {a, b});
}
Tensor scale(const Tensor& x, double factor) { return dispatch(make_ref<Scale>(factor), {x}); }
Tensor shift(const Tensor& x, double term) { return dispatch(make_ref<Shift>(term), {x}); }

}  // namespace shardlab
