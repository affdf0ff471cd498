#pragma once

#include <vector>

#include "engine/core/op.h"

namespace shardlab {

/// Runs of a dim as tensors of their own: other looks at the same memory.
class Pieces final : public Op {
 public:
  Pieces(int dim, std::vector<std::int64_t> sizes) : dim_(dim), sizes_(std::move(sizes)) {}
  [[nodiscard]] const char* name() const override { return "pieces"; }
  [[nodiscard]] int outputs() const override { return static_cast<int>(sizes_.size()); }
  void infer(InputSpecs inputs, std::span<Spec> outputs) const override;
  [[nodiscard]] Placing placing(InputSpecs inputs) const override;
  [[nodiscard]] std::uint64_t attributes() const override;
  [[nodiscard]] bool looks() const override { return true; }
  bool look(const View& input, const Shape& start, int output, View& view) const override;
  void gradient(GradientCall& call) const override;

 private:
  int dim_;
  std::vector<std::int64_t> sizes_;
};

/// Runs of `sizes` elements along a dim, which is made whole first.
///
/// Errors   Error{invalid} unless the sizes add up to the extent; at most `max_outputs` of them.
[[nodiscard]] std::vector<Tensor> pieces(const Tensor& x, int dim, std::vector<std::int64_t> sizes);

}  // namespace shardlab
