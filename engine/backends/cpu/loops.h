#pragma once

#include <array>
#include <cstdint>

#include "engine/core/backend.h"

namespace shardlab::cpu {

/// The elements of several operands of one shape, walked together in C order: runs along the
/// innermost dim, inside a loop over the others. Dims that all operands walk evenly are merged.
///
/// Units    Offsets and strides are elements.
template <int operands>
struct Loop {
  using Offsets = std::array<std::int64_t, operands>;

  /// Merges the dims of `shape`; strides are one set an operand.
  Loop(const Shape& shape, const std::array<Strides, operands>& strides) {
    for (int d = shape.ndim() - 1; d >= 0; --d) {
      if (shape[d] == 1) continue;
      if (shape[d] == 0) empty = true;
      bool joins = outer_dims > 0;
      for (int i = 0; i < operands && joins; ++i)
        joins = strides[i][d] == outer[outer_dims - 1][i] * extent[outer_dims - 1];
      if (joins) {
        extent[outer_dims - 1] *= shape[d];
        continue;
      }
      extent[outer_dims] = shape[d];
      for (int i = 0; i < operands; ++i) outer[outer_dims][i] = strides[i][d];
      ++outer_dims;
    }
    if (outer_dims == 0) {
      extent[0] = 1;
      for (int i = 0; i < operands; ++i) outer[0][i] = 1;
      outer_dims = 1;
    }
  }

  [[nodiscard]] std::int64_t run() const { return extent[0]; }
  [[nodiscard]] std::int64_t stride(int operand) const { return outer[0][operand]; }

  /// Calls f(offsets of the first elements) for every run.
  template <typename F>
  void for_each_run(F f) const {
    if (empty) return;
    Offsets offset{};
    std::array<std::int64_t, max_ndim> at{};
    while (true) {
      f(offset);
      int d = 1;
      for (; d < outer_dims; ++d) {
        for (int i = 0; i < operands; ++i) offset[i] += outer[d][i];
        if (++at[d] < extent[d]) break;
        for (int i = 0; i < operands; ++i) offset[i] -= outer[d][i] * extent[d];
        at[d] = 0;
      }
      if (d >= outer_dims) return;
    }
  }

  /// Merged dims, the innermost first, and the strides of each.
  int outer_dims = 0;
  std::array<std::int64_t, max_ndim> extent;
  std::array<Offsets, max_ndim> outer;
  bool empty = false;
};

/// Strides that walk `view` as if it were repeated to `shape`.
[[nodiscard]] inline Strides broadcast_strides(const View& view, const Shape& shape) {
  Strides strides{};
  const int extra = shape.ndim() - view.shape.ndim();
  for (int d = extra; d < shape.ndim(); ++d)
    if (view.shape[d - extra] == shape[d]) strides[d] = view.strides[d - extra];
  return strides;
}

}  // namespace shardlab::cpu
