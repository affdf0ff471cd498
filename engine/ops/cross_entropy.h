#pragma once

#include <optional>

#include "engine/core/op.h"

namespace shardlab {

struct CrossEntropyOptions {
  double label_smoothing = 0;
  std::optional<std::int64_t> ignore_index;
};

/// Cross entropy of each row, the log-sum-exp of its logits, and 1 or 0 for kept or ignored.
class CrossEntropy final : public Op {
 public:
  explicit CrossEntropy(CrossEntropyOptions options) : options_(options) {}
  [[nodiscard]] const char* name() const override { return "cross_entropy"; }
  [[nodiscard]] const Signature& signature() const override;
  void infer(InputSpecs inputs, std::span<Spec> outputs) const override;
  [[nodiscard]] int outputs() const override { return 3; }
  [[nodiscard]] Cost cost(Views inputs, Views outputs) const override;
  [[nodiscard]] Saves saves() const override { return {3, 2}; }
  void gradient(GradientCall& call) const override;
  [[nodiscard]] const CrossEntropyOptions& options() const { return options_; }

 private:
  CrossEntropyOptions options_;
};

/// Gradient of the logits from logits, targets, log-sum-exp and the cotangent of each row.
class CrossEntropyGradient final : public Op {
 public:
  explicit CrossEntropyGradient(CrossEntropyOptions options) : options_(options) {}
  [[nodiscard]] const char* name() const override { return "cross_entropy_gradient"; }
  [[nodiscard]] const Signature& signature() const override;
  void infer(InputSpecs inputs, std::span<Spec> outputs) const override;
  [[nodiscard]] Cost cost(Views inputs, Views outputs) const override;
  [[nodiscard]] const CrossEntropyOptions& options() const { return options_; }

 private:
  CrossEntropyOptions options_;
};

/// Cross entropy of each row; 0 for ignored ones. With smoothing s: (1 - s) nll + s times the mean
/// of -log p over classes.
///
/// Shapes   logits [..., c], targets [...] of int64 -> [...]; c must be whole on a rank.
[[nodiscard]] Tensor cross_entropy_rows(const Tensor& logits, const Tensor& targets,
                                        const CrossEntropyOptions& options = {});

/// Mean over the rows that are not ignored, divided once by their global number.
[[nodiscard]] Tensor cross_entropy(const Tensor& logits, const Tensor& targets,
                                   const CrossEntropyOptions& options = {});

}  // namespace shardlab
