#include "engine/ops/optimizer_step.h"

#include "engine/core/check.h"
#include "engine/dispatch/dispatch.h"

namespace shardlab {

const Signature& AdamW::signature() const {
  static const Signature signature("..., ..., ..., ... -> ..., ..., ...");
  return signature;
}

Cost AdamW::cost(Views inputs, Views outputs) const {
  return {12 * inputs[0]->shape.count(), bytes_of(inputs) + bytes_of(outputs)};
}

const Signature& Sgd::signature() const {
  static const Signature signature("..., ..., ... -> ..., ...");
  return signature;
}

Cost Sgd::cost(Views inputs, Views outputs) const {
  return {6 * inputs[0]->shape.count(), bytes_of(inputs) + bytes_of(outputs)};
}

namespace {

void check_shape(const char* op, const char* what, const Tensor& tensor, const Tensor& parameter) {
  check(tensor.shape() == parameter.shape(), "{}: the {} is {}, the parameter {}", op, what,
        to_string(tensor.shape()), to_string(parameter.shape()));
}

}  // namespace

void adamw_step(const Tensor& parameter, const Tensor& gradient, const Tensor& first_moment,
                const Tensor& second_moment, const AdamWOptions& options, std::int64_t step) {
  const NoGrad no_grad(parameter.worker());
  check_shape("adamw", "gradient", gradient, parameter);
  check_shape("adamw", "first moment", first_moment, parameter);
  check_shape("adamw", "second moment", second_moment, parameter);
  const std::array<Tensor, 4> inputs{parameter, gradient, first_moment, second_moment};
  std::array<Tensor, 3> outputs;
  dispatch(make_ref<AdamW>(options, step), inputs, outputs);
}

void sgd_step(const Tensor& parameter, const Tensor& gradient, const Tensor& buffer,
              const SgdOptions& options, std::int64_t step) {
  const NoGrad no_grad(parameter.worker());
  check_shape("sgd", "gradient", gradient, parameter);
  check_shape("sgd", "buffer", buffer, parameter);
  const std::array<Tensor, 3> inputs{parameter, gradient, buffer};
  std::array<Tensor, 2> outputs;
  dispatch(make_ref<Sgd>(options, step), inputs, outputs);
}

}  // namespace shardlab
