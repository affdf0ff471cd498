#pragma once

#include "engine/core/op.h"

namespace shardlab {

struct AdamWOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
};

/// One step of AdamW: updates parameter and both moments in place.
///
/// Source   Loshchilov and Hutter 2019, arXiv:1711.05101.
class AdamW final : public Op {
 public:
  AdamW(AdamWOptions options, std::int64_t step) : options_(options), step_(step) {}
  [[nodiscard]] const char* name() const override { return "adamw"; }
  [[nodiscard]] const Signature& signature() const override;
  [[nodiscard]] int outputs() const override { return 3; }
  [[nodiscard]] int updates(int output) const override { return output == 0 ? 0 : output + 1; }
  [[nodiscard]] Cost cost(Views inputs, Views outputs) const override;
  [[nodiscard]] const AdamWOptions& options() const { return options_; }

  /// Counted from 1.
  [[nodiscard]] std::int64_t step() const { return step_; }

 private:
  AdamWOptions options_;
  std::int64_t step_;
};

struct SgdOptions {
  double learning_rate = 1e-2;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
};

/// One step of gradient descent with momentum: updates parameter and buffer in place; the first
/// step sets the buffer to the gradient.
class Sgd final : public Op {
 public:
  Sgd(SgdOptions options, std::int64_t step) : options_(options), step_(step) {}
  [[nodiscard]] const char* name() const override { return "sgd"; }
  [[nodiscard]] const Signature& signature() const override;
  [[nodiscard]] int outputs() const override { return 2; }
  [[nodiscard]] int updates(int output) const override { return output == 0 ? 0 : 2; }
  [[nodiscard]] Cost cost(Views inputs, Views outputs) const override;
  [[nodiscard]] const SgdOptions& options() const { return options_; }
  [[nodiscard]] std::int64_t step() const { return step_; }

 private:
  SgdOptions options_;
  std::int64_t step_;
};

/// p (1 - rate decay), then p - rate m' / (sqrt(v') + epsilon) with bias-corrected moments m', v'.
///
/// Shapes   All of the parameter's; the gradient moves to where the parameter is stored.
void adamw_step(const Tensor& parameter, const Tensor& gradient, const Tensor& first_moment,
                const Tensor& second_moment, const AdamWOptions& options, std::int64_t step);

void sgd_step(const Tensor& parameter, const Tensor& gradient, const Tensor& buffer,
              const SgdOptions& options, std::int64_t step);

}  // namespace shardlab
