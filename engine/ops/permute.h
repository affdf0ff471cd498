#pragma once

#include <vector>

#include "engine/core/op.h"

namespace shardlab {

/// Dims in another order: another look at the same memory.
class Permute final : public Op {
 public:
  explicit Permute(std::vector<int> order) : order_(std::move(order)) {}
  [[nodiscard]] const char* name() const override { return "permute"; }
  void infer(InputSpecs inputs, std::span<Spec> outputs) const override;
  [[nodiscard]] Placing placing(InputSpecs inputs) const override;
  [[nodiscard]] std::uint64_t attributes() const override;
  [[nodiscard]] bool looks() const override { return true; }
  bool look(const View& input, const Shape& start, int output, View& view) const override;
  void gradient(GradientCall& call) const override;

 private:
  std::vector<int> order_;
};

/// Dim d of the result is dim order[d] of `x`.
///
/// Errors   Error{invalid} unless `order` names every dim once.
[[nodiscard]] Tensor permute(const Tensor& x, std::vector<int> order);

/// Two dims exchanged; negative ones count from the end.
[[nodiscard]] Tensor transpose(const Tensor& x, int a, int b);

}  // namespace shardlab
