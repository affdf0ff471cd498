#pragma once

#include "engine/core/op.h"

namespace shardlab {

/// Product of the two innermost dims, leading dims broadcast.
class Matmul final : public Op {
 public:
  [[nodiscard]] const char* name() const override { return "matmul"; }
  [[nodiscard]] const Signature& signature() const override;
  [[nodiscard]] std::uint32_t strided_inputs() const override { return 3; }
  [[nodiscard]] Cost cost(Views inputs, Views outputs) const override;
  [[nodiscard]] Saves saves() const override { return {3, 0}; }
  void gradient(GradientCall& call) const override;
};

/// Shapes   a [..., m, k], b [..., k, n] -> [..., m, n].
/// Cost     2 m k n flop a matrix.
[[nodiscard]] Tensor matmul(const Tensor& a, const Tensor& b);

}  // namespace shardlab
