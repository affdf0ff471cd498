#pragma once

#include <span>

#include "engine/core/op.h"

namespace shardlab {

/// The same elements in C order under another shape: another look at dense memory.
///
/// A dim that is split or merged stays cut if it is the outermost of its group and every cut falls
/// between whole inner dims; an inner cut moves first.
class Reshape final : public Op {
 public:
  explicit Reshape(Shape shape) : shape_(shape) {}
  [[nodiscard]] const char* name() const override { return "reshape"; }
  void infer(InputSpecs inputs, std::span<Spec> outputs) const override;
  [[nodiscard]] Placing placing(InputSpecs inputs) const override;
  [[nodiscard]] std::uint64_t attributes() const override;
  [[nodiscard]] bool looks() const override { return true; }
  bool look(const View& input, const Shape& start, int output, View& view) const override;
  void gradient(GradientCall& call) const override;

 private:
  Shape shape_;
};

/// Shapes   As many elements as `x` has; one extent may be -1 and is worked out.
[[nodiscard]] Tensor reshape(const Tensor& x, const Shape& shape);
[[nodiscard]] Tensor reshape(const Tensor& x, std::span<const std::int64_t> extents);

}  // namespace shardlab
