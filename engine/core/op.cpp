#include "engine/core/op.h"

#include "engine/core/check.h"

namespace shardlab {

const Signature& Op::signature() const {
  fail(Fault::internal, "{}: has no signature and does not override what needs one", name());
}

void Op::infer(InputSpecs inputs, std::span<Spec> outputs) const {
  std::array<const Shape*, max_inputs> shapes{};
  for (std::size_t i = 0; i < inputs.size(); ++i) shapes[i] = &inputs[i]->shape;
  const Signature::Extents extents =
      signature().check_shapes(name(), std::span(shapes).first(inputs.size()));
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    outputs[o].shape = signature().output_shape(extents, static_cast<int>(o));
    outputs[o].dtype = inputs[0]->dtype;
  }
  for (std::size_t i = 1; i < inputs.size(); ++i)
    check(inputs[i]->dtype == inputs[0]->dtype, "{}: operand {} is {}, operand 0 is {}", name(), i,
          name_of(inputs[i]->dtype), name_of(inputs[0]->dtype));
}

Placing Op::placing(InputSpecs inputs) const {
  std::array<const Shape*, max_inputs> shapes{};
  for (std::size_t i = 0; i < inputs.size(); ++i) shapes[i] = &inputs[i]->shape;
  return signature().bind(name(), std::span(shapes).first(inputs.size()));
}

Cost Op::cost(Views inputs, Views outputs) const {
  return {outputs[0]->shape.count(), bytes_of(inputs) + bytes_of(outputs)};
}

void Op::gradient(GradientCall& /*call*/) const {
  fail(Fault::unsupported, "{}: has no gradient", name());
}

std::int64_t bytes_of(Views views) {
  std::int64_t bytes = 0;
  for (const View* view : views) bytes += view->shape.count() * width_of(view->dtype);
  return bytes;
}

}  // namespace shardlab
