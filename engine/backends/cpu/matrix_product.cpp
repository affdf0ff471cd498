#include "engine/backends/cpu/matrix_product.h"

#include <algorithm>

#include "engine/backends/cpu/gemm.h"
#include "engine/core/check.h"

namespace shardlab::cpu {
namespace {

// Elements of all three matrices up to which our kernels beat the library, which needs some 0.4 us
// before it multiplies. Ours pack both operands, so elements count and not multiply-adds: products
// of a few rows cross as early as square ones of 18.
constexpr std::int64_t small_product = 1024;

template <typename T>
void expect_fit(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& out) {
  expect(a.cols == b.rows && out.rows == a.rows && out.cols == b.cols &&
             std::min({a.rows, a.cols, b.cols}) >= 0,
         "matrix product: {}x{} by {}x{} into {}x{}", a.rows, a.cols, b.rows, b.cols, out.rows,
         out.cols);
  expect((out.col_stride == 1 || out.cols <= 1) && (out.row_stride >= out.cols || out.rows <= 1),
         "matrix product: rows of the {}x{} result are not contiguous: strides {} and {}", out.rows,
         out.cols, out.row_stride, out.col_stride);
}

/// What the result is before the product is added: bias or zeros, on top of `out` or not.
template <typename T>
void start(const T* bias, bool accumulate, const Matrix<T>& out) {
  for (std::int64_t i = 0; i < out.rows; ++i) {
    T* const row = out.data + i * out.row_stride;
    if (bias == nullptr) {
      if (!accumulate) std::fill(row, row + out.cols, T{0});
    } else if (accumulate) {
      for (std::int64_t j = 0; j < out.cols; ++j) row[j] += bias[j];
    } else {
      std::copy(bias, bias + out.cols, row);
    }
  }
}

/// One dimension of 1 leaves a stride without meaning; libraries still look at it.
template <typename T>
Matrix<T> canonical(Matrix<T> matrix) {
  if (matrix.cols == 1) matrix.col_stride = 1;
  if (matrix.rows == 1) matrix.row_stride = matrix.col_stride == 1 ? matrix.cols : 1;
  return matrix;
}

template <typename T>
bool has_rows_or_columns(const Matrix<T>& matrix) {
  return (matrix.col_stride == 1 && matrix.row_stride >= matrix.cols) ||
         (matrix.row_stride == 1 && matrix.col_stride >= matrix.rows);
}

template <typename T>
void by_own_kernels(const Matrix<const T>& a, const Matrix<const T>& b, const T* bias,
                    bool accumulate, const Matrix<T>& out, Scratch& scratch) {
  if (bias != nullptr || a.cols == 0) {
    start(bias, accumulate, out);
    accumulate = true;
  }
  if (a.cols > 0) gemm(a, b, accumulate, out, scratch);
}

/// Whether the rows of all matrices of a batch are evenly spaced.
template <typename T>
bool is_stacked(const MatrixBatch<T>& batch) {
  return batch.first.rows == 1 || batch.stride == batch.first.rows * batch.first.row_stride;
}

template <typename T>
Matrix<T> stacked(const MatrixBatch<T>& batch, std::int64_t count) {
  Matrix<T> all = batch.first;
  if (all.rows == 1) all.row_stride = batch.stride;
  all.rows *= count;
  return all;
}

template <typename T>
void multiply_batch(MatrixProduct& product, std::int64_t count, const MatrixBatch<const T>& a,
                    const MatrixBatch<const T>& b, const T* bias, bool accumulate,
                    const MatrixBatch<T>& out) {
  if (out.first.rows == 0 || out.first.cols == 0) return;
  expect(out.stride != 0 || count <= 1, "matrix product: {} results in one place", count);
  if (b.stride == 0 && count > 1 && is_stacked(a) && is_stacked(out)) {
    product(stacked(a, count), b.first, bias, accumulate, stacked(out, count));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const auto at = [i](auto batch) {
      batch.first.data += i * batch.stride;
      return batch.first;
    };
    product(at(a), at(b), bias, accumulate, at(out));
  }
}

}  // namespace

void MatrixProduct::operator()(const Matrix<const float>& a, const Matrix<const float>& b,
                               const float* bias, bool accumulate, const Matrix<float>& out) {
  expect_fit(a, b, out);
  if (out.rows == 0 || out.cols == 0) return;
  const Matrix<const float> left = canonical(a);
  const Matrix<const float> right = canonical(b);
  const std::int64_t elements = out.rows * out.cols + a.cols * (out.rows + out.cols);
  if (elements <= small_product || !has_rows_or_columns(left) || !has_rows_or_columns(right))
    by_own_kernels(left, right, bias, accumulate, out, scratch_);
  else
    onednn_(left, right, bias, accumulate, canonical(out));
}

void MatrixProduct::operator()(const Matrix<const double>& a, const Matrix<const double>& b,
                               const double* bias, bool accumulate, const Matrix<double>& out) {
  expect_fit(a, b, out);
  if (out.rows == 0 || out.cols == 0) return;
  by_own_kernels(a, b, bias, accumulate, out, scratch_);
}

void MatrixProduct::batched(std::int64_t count, const MatrixBatch<const float>& a,
                            const MatrixBatch<const float>& b, const float* bias, bool accumulate,
                            const MatrixBatch<float>& out) {
  multiply_batch(*this, count, a, b, bias, accumulate, out);
}

void MatrixProduct::batched(std::int64_t count, const MatrixBatch<const double>& a,
                            const MatrixBatch<const double>& b, const double* bias, bool accumulate,
                            const MatrixBatch<double>& out) {
  multiply_batch(*this, count, a, b, bias, accumulate, out);
}

}  // namespace shardlab::cpu
