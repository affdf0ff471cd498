#pragma once

#include "engine/core/op.h"

namespace shardlab {

/// Normalises the innermost dim, then scales and shifts; hands out mean and 1/deviation too.
class LayerNorm final : public Op {
 public:
  explicit LayerNorm(double epsilon) : epsilon_(epsilon) {}
  [[nodiscard]] const char* name() const override { return "layer_norm"; }
  [[nodiscard]] const Signature& signature() const override;
  [[nodiscard]] int outputs() const override { return 3; }
  [[nodiscard]] Cost cost(Views inputs, Views outputs) const override;
  [[nodiscard]] Saves saves() const override { return {3, 6}; }
  void gradient(GradientCall& call) const override;
  [[nodiscard]] double epsilon() const { return epsilon_; }

 private:
  double epsilon_;
};

/// Gradients of x, weight and bias from x, weight, mean, 1/deviation and the cotangent.
class LayerNormGradient final : public Op {
 public:
  [[nodiscard]] const char* name() const override { return "layer_norm_gradient"; }
  [[nodiscard]] const Signature& signature() const override;
  [[nodiscard]] int outputs() const override { return 3; }
  [[nodiscard]] Cost cost(Views inputs, Views outputs) const override;
};

/// (x - mean) / sqrt(variance + epsilon) * weight + bias over the innermost dim; the variance is
/// divided by n.
///
/// Shapes   x [..., d], weight [d], bias [d] -> [..., d]; d must be whole on a rank.
/// Source   Ba, Kiros and Hinton 2016, arXiv:1607.06450.
[[nodiscard]] Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                double epsilon = 1e-5);

}  // namespace shardlab
