#pragma once

#include "engine/core/op.h"

namespace shardlab {

/// y = x w^T + bias over the innermost dim; leading dims stay as they are.
class Linear final : public Op {
 public:
  explicit Linear(bool with_bias) : with_bias_(with_bias) {}
  [[nodiscard]] const char* name() const override { return "linear"; }
  [[nodiscard]] const Signature& signature() const override;
  void infer(InputSpecs inputs, std::span<Spec> outputs) const override;
  [[nodiscard]] std::uint64_t attributes() const override { return with_bias_ ? 1 : 0; }
  [[nodiscard]] std::uint32_t strided_inputs() const override { return 2; }
  [[nodiscard]] Cost cost(Views inputs, Views outputs) const override;
  [[nodiscard]] Saves saves() const override { return {3, 0}; }
  void gradient(GradientCall& call) const override;

 private:
  bool with_bias_;
};

/// Sum over all leading dims of the outer products of two tensors' innermost dims: the gradient of
/// a linear weight.
class OuterSum final : public Op {
 public:
  [[nodiscard]] const char* name() const override { return "outer_sum"; }
  [[nodiscard]] const Signature& signature() const override;
  void infer(InputSpecs inputs, std::span<Spec> outputs) const override;
  [[nodiscard]] Cost cost(Views inputs, Views outputs) const override;
  [[nodiscard]] Saves saves() const override { return {3, 0}; }
  void gradient(GradientCall& call) const override;
};

/// y = x w^T + bias.
///
/// Shapes   x [..., i], weight [o, i], bias [o] or empty -> [..., o]; a contracted dim of length 0
///          gives the bias.
/// Cost     2 i o flop a row.
[[nodiscard]] Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias);
[[nodiscard]] Tensor linear(const Tensor& x, const Tensor& weight);

/// Shapes   a [..., o], b [..., i] -> [o, i].
[[nodiscard]] Tensor outer_sum(const Tensor& a, const Tensor& b);

}  // namespace shardlab
