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

  /// A single run of neighbours.
  explicit Loop(std::int64_t count) : dims(1), empty(count == 0) {
    extent[0] = count;
    step[0].fill(1);
    step[1].fill(0);
  }

  /// Merges the dims of `shape`; strides are one set an operand.
  Loop(const Shape& shape, const std::array<Strides, operands>& strides) {
    step[1].fill(0);
    for (int d = shape.ndim() - 1; d >= 0; --d) {
      if (shape[d] == 1) continue;
      if (shape[d] == 0) empty = true;
      bool joins = dims > 0;
      for (int i = 0; i < operands && joins; ++i)
        joins = strides[i][d] == step[dims - 1][i] * extent[dims - 1];
      if (joins) {
        extent[dims - 1] *= shape[d];
        continue;
      }
      extent[dims] = shape[d];
      for (int i = 0; i < operands; ++i) step[dims][i] = strides[i][d];
      ++dims;
    }
    if (dims > 0) return;
    dims = 1;
    extent[0] = 1;
    step[0].fill(1);
  }

  [[nodiscard]] std::int64_t run() const { return extent[0]; }
  [[nodiscard]] std::int64_t stride(int operand) const { return step[0][operand]; }

  /// Calls f(offsets of the first elements) for every run.
  template <typename F>
  void for_each_run(F f) const {
    if (empty) return;
    Offsets offset{};
    std::array<std::int64_t, max_ndim> at{};
    const std::int64_t rows = dims > 1 ? extent[1] : 1;
    while (true) {
      Offsets row = offset;
      for (std::int64_t i = 0; i < rows; ++i) {
        f(row);
        for (int k = 0; k < operands; ++k) row[k] += step[1][k];
      }
      int d = 2;
      for (; d < dims; ++d) {
        for (int k = 0; k < operands; ++k) offset[k] += step[d][k];
        if (++at[d] < extent[d]) break;
        for (int k = 0; k < operands; ++k) offset[k] -= step[d][k] * extent[d];
        at[d] = 0;
      }
      if (d >= dims) return;
    }
  }

  /// Merged dims, the innermost first, and the strides of each.
  int dims = 0;
  std::array<std::int64_t, max_ndim> extent;
  std::array<Offsets, max_ndim> step;
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

/// Whether a view is dense and of this shape.
[[nodiscard]] inline bool fills(const View& view, const Shape& shape) {
  return view.shape == shape && is_dense(shape, view.strides);
}

/// The loop of an operation on elements; narrower inputs are repeated, `out` is dense.
[[nodiscard]] inline Loop<3> loop_over(const View& a, const View& b, const View& out) {
  if (fills(a, out.shape) && fills(b, out.shape)) return Loop<3>(out.shape.count());
  return {out.shape,
          {broadcast_strides(a, out.shape), broadcast_strides(b, out.shape), out.strides}};
}

[[nodiscard]] inline Loop<2> loop_over(const View& x, const View& out) {
  if (fills(x, out.shape)) return Loop<2>(out.shape.count());
  return {out.shape, {x.strides, out.strides}};
}

}  // namespace shardlab::cpu
