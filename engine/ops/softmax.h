#pragma once

#include "engine/core/op.h"

namespace shardlab {

/// Softmax or its logarithm along one dim, which must be whole on a rank.
class Softmax final : public Op {
 public:
  Softmax(int dim, bool logarithm) : dim_(dim), logarithm_(logarithm) {}
  [[nodiscard]] const char* name() const override { return logarithm_ ? "log_softmax" : "softmax"; }
  void infer(InputSpecs inputs, std::span<Spec> outputs) const override;
  [[nodiscard]] Placing placing(InputSpecs inputs) const override;
  [[nodiscard]] std::uint64_t attributes() const override;
  [[nodiscard]] Cost cost(Views inputs, Views outputs) const override;
  [[nodiscard]] Saves saves() const override { return {0, 1}; }
  void gradient(GradientCall& call) const override;
  [[nodiscard]] int dim() const { return dim_; }
  [[nodiscard]] bool logarithm() const { return logarithm_; }

 private:
  int dim_;
  bool logarithm_;
};

/// exp(x - max) / sum(exp(x - max)) along a dim; -inf gives 0.
[[nodiscard]] Tensor softmax(const Tensor& x, int dim);

/// x - max - log(sum(exp(x - max))) along a dim.
[[nodiscard]] Tensor log_softmax(const Tensor& x, int dim);

}  // namespace shardlab
