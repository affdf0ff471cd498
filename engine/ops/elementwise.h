#pragma once

#include "engine/core/op.h"

namespace shardlab {

/// A function of one element.
enum class Function : std::uint8_t { gelu_erf, gelu_tanh, tanh, relu, silu, sigmoid, exp, log };
inline constexpr int function_count = 8;

[[nodiscard]] const char* name_of(Function function) noexcept;

/// y = f(x).
class Unary final : public Op {
 public:
  explicit Unary(Function function) : function_(function) {}
  [[nodiscard]] const char* name() const override { return name_of(function_); }
  [[nodiscard]] const Signature& signature() const override;
  void infer(InputSpecs inputs, std::span<Spec> outputs) const override;
  [[nodiscard]] std::uint32_t strided_inputs() const override { return 1; }
  [[nodiscard]] Cost cost(Views inputs, Views outputs) const override;
  [[nodiscard]] Saves saves() const override { return {1, 0}; }
  void gradient(GradientCall& call) const override;
  [[nodiscard]] Function function() const { return function_; }

 private:
  Function function_;
};

/// g times the first or second derivative of f at x.
class UnaryGradient final : public Op {
 public:
  UnaryGradient(Function function, int order) : function_(function), order_(order) {}
  [[nodiscard]] const char* name() const override;
  [[nodiscard]] const Signature& signature() const override;
  void infer(InputSpecs inputs, std::span<Spec> outputs) const override;
  [[nodiscard]] std::uint32_t strided_inputs() const override { return 3; }
  [[nodiscard]] Cost cost(Views inputs, Views outputs) const override;
  [[nodiscard]] Saves saves() const override { return {3, 0}; }
  void gradient(GradientCall& call) const override;
  [[nodiscard]] Function function() const { return function_; }
  [[nodiscard]] int order() const { return order_; }

 private:
  Function function_;
  int order_;
};

/// GELU by the error function: x Phi(x).
///
/// Source   Hendrycks and Gimpel 2016, arXiv:1606.08415.
[[nodiscard]] Tensor gelu(const Tensor& x);

/// GELU by its tanh approximation.
[[nodiscard]] Tensor gelu_tanh(const Tensor& x);
[[nodiscard]] Tensor tanh(const Tensor& x);

/// max(x, 0); the gradient at 0 is 0.
[[nodiscard]] Tensor relu(const Tensor& x);

/// x sigmoid(x).
[[nodiscard]] Tensor silu(const Tensor& x);
[[nodiscard]] Tensor sigmoid(const Tensor& x);
[[nodiscard]] Tensor exp(const Tensor& x);
[[nodiscard]] Tensor log(const Tensor& x);

}  // namespace shardlab
