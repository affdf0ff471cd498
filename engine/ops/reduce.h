#pragma once

#include <vector>

#include "engine/core/op.h"

namespace shardlab {

/// Sum over some dims, which are dropped or kept with extent 1.
class Sum final : public Op {
 public:
  Sum(std::uint32_t dims, bool keep) : dims_(dims), keep_(keep) {}
  [[nodiscard]] const char* name() const override { return "sum"; }
  void infer(InputSpecs inputs, std::span<Spec> outputs) const override;
  [[nodiscard]] Placing placing(InputSpecs inputs) const override;
  [[nodiscard]] std::uint64_t attributes() const override { return dims_ << 1 | (keep_ ? 1U : 0U); }
  [[nodiscard]] Cost cost(Views inputs, Views outputs) const override;
  void gradient(GradientCall& call) const override;

  /// One bit a dim that is summed.
  [[nodiscard]] std::uint32_t dims() const { return dims_; }

 private:
  std::uint32_t dims_;
  bool keep_;
};

struct SumOptions {
  std::vector<int> dims;  ///< None means all.
  bool keep = false;
};

/// Sum over dims; pieces on several ranks stay pending as Partial.
[[nodiscard]] Tensor sum(const Tensor& x, const SumOptions& options = {});

/// Mean over dims, divided once by the global count.
///
/// Errors   Error{invalid} if there is nothing to take the mean of.
[[nodiscard]] Tensor mean(const Tensor& x, const SumOptions& options = {});

}  // namespace shardlab
