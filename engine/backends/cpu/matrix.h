#pragma once

#include <cstdint>

namespace shardlab::cpu {

/// A view of a 2-D operand.
///
/// Units  Sizes and strides in elements.
template <typename T>
struct Matrix {
  T* data;
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t row_stride;
  std::int64_t col_stride = 1;
};

/// Matrices of one shape, `stride` elements apart; a stride of 0 reads the same one every time.
template <typename T>
struct MatrixBatch {
  Matrix<T> first;
  std::int64_t stride;
};

}  // namespace shardlab::cpu
