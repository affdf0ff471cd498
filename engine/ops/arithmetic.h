#pragma once

#include "engine/dispatch/intrinsic.h"

namespace shardlab {

/// Difference, product or quotient of two tensors, broadcast.
class Binary final : public Op {
 public:
  enum class Kind : std::uint8_t { subtract, multiply, divide };
  explicit Binary(Kind kind) : kind_(kind) {}
  [[nodiscard]] const char* name() const override;
  [[nodiscard]] const Signature& signature() const override;
  void infer(InputSpecs inputs, std::span<Spec> outputs) const override;
  [[nodiscard]] Placing placing(InputSpecs inputs) const override;
  [[nodiscard]] std::uint32_t strided_inputs() const override { return 3; }
  [[nodiscard]] Saves saves() const override;
  void gradient(GradientCall& call) const override;

 private:
  Kind kind_;
};

/// y = factor x; a Partial sum passes through.
class Scale final : public Op {
 public:
  explicit Scale(double factor) : factor_(factor) {}
  [[nodiscard]] const char* name() const override { return "scale"; }
  [[nodiscard]] const Signature& signature() const override;
  void infer(InputSpecs inputs, std::span<Spec> outputs) const override;
  [[nodiscard]] Placing placing(InputSpecs inputs) const override;
  [[nodiscard]] std::uint32_t strided_inputs() const override { return 1; }
  void gradient(GradientCall& call) const override;
  [[nodiscard]] double factor() const { return factor_; }

 private:
  double factor_;
};

/// y = x + term for every element.
class Shift final : public Op {
 public:
  explicit Shift(double term) : term_(term) {}
  [[nodiscard]] const char* name() const override { return "shift"; }
  [[nodiscard]] const Signature& signature() const override;
  void infer(InputSpecs inputs, std::span<Spec> outputs) const override;
  [[nodiscard]] std::uint32_t strided_inputs() const override { return 1; }
  void gradient(GradientCall& call) const override;
  [[nodiscard]] double term() const { return term_; }

 private:
  double term_;
};

[[nodiscard]] Tensor subtract(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor multiply(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor divide(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor scale(const Tensor& x, double factor);
[[nodiscard]] Tensor shift(const Tensor& x, double term);

}  // namespace shardlab
