#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "engine/backends/cpu/library_memory.h"
#include "engine/backends/cpu/matrix.h"

namespace shardlab::cpu {

/// Library memory that counts, and starts as NaN so that nobody relies on what is in it.
class CountedMemory final : public LibraryMemory {
 public:
  void* allocate(std::int64_t bytes) override {
    const std::int64_t rounded = (bytes + 63) / 64 * 64;
    auto* const floats = static_cast<float*>(std::aligned_alloc(64, rounded));
    std::fill(floats, floats + rounded / 4, std::numeric_limits<float>::quiet_NaN());
    live += bytes;
    ++allocations;
    return floats;
  }
  void release(void* memory, std::int64_t bytes) noexcept override {
    std::free(memory);
    live -= bytes;
  }

  std::int64_t live = 0;
  int allocations = 0;
};

/// How a matrix lies in memory.
struct Order {
  bool transposed = false;
  std::int64_t gap = 0;      ///< between the end of a row (or column) and the next
  std::int64_t spacing = 1;  ///< between neighbours of a row (or column)
};

/// A matrix with its memory; whatever is no element of it holds NaN.
template <typename T>
class Stored {
 public:
  Stored(std::int64_t rows, std::int64_t cols, Order order = {}) {
    const std::int64_t inner = order.transposed ? rows : cols;
    const std::int64_t outer = order.transposed ? cols : rows;
    const std::int64_t step = inner * order.spacing + order.gap;
    values_.assign(static_cast<std::size_t>(outer * step + 1), std::numeric_limits<T>::quiet_NaN());
    view_ = {values_.data(), rows, cols, order.transposed ? order.spacing : step,
             order.transposed ? step : order.spacing};
  }
  Stored(const Stored&) = delete;
  Stored& operator=(const Stored&) = delete;

  Stored& fill(std::uint32_t seed) {
    std::mt19937 random(seed);
    for (std::int64_t i = 0; i < view_.rows; ++i)
      for (std::int64_t j = 0; j < view_.cols; ++j)
        at(i, j) = static_cast<T>(static_cast<std::int64_t>(random() % 2001) - 1000) / T{1000};
    return *this;
  }

  T& at(std::int64_t i, std::int64_t j) {
    return view_.data[i * view_.row_stride + j * view_.col_stride];
  }
  const std::vector<T>& memory() const { return values_; }
  Matrix<T> view() const { return view_; }
  Matrix<const T> read() const {
    return {view_.data, view_.rows, view_.cols, view_.row_stride, view_.col_stride};
  }

 private:
  std::vector<T> values_;
  Matrix<T> view_;
};

/// What the product has to be, in float64 and row order.
template <typename T>
std::vector<double> expected_product(const Matrix<const T>& a, const Matrix<const T>& b,
                                     const T* bias, const Matrix<T>* before) {
  std::vector<double> result(static_cast<std::size_t>(a.rows * b.cols));
  for (std::int64_t i = 0; i < a.rows; ++i) {
    double* const row = result.data() + i * b.cols;
    for (std::int64_t j = 0; j < b.cols; ++j) {
      if (bias != nullptr) row[j] = bias[j];
      if (before != nullptr) row[j] += before->data[i * before->row_stride + j];
    }
    for (std::int64_t p = 0; p < a.cols; ++p) {
      const double left = a.data[i * a.row_stride + p * a.col_stride];
      for (std::int64_t j = 0; j < b.cols; ++j)
        row[j] += left * b.data[p * b.row_stride + j * b.col_stride];
    }
  }
  return result;
}

/// The largest difference, as a fraction of the largest sum of absolute values that can occur; NaN
/// if there is one.
template <typename T>
double error_of(const Matrix<T>& got, const std::vector<double>& expected, std::int64_t depth) {
  double error = 0.0;
  for (std::int64_t i = 0; i < got.rows; ++i)
    for (std::int64_t j = 0; j < got.cols; ++j) {
      const double difference = std::abs(got.data[i * got.row_stride + j] -
                                         expected[static_cast<std::size_t>(i * got.cols + j)]);
      if (std::isnan(difference)) return difference;
      error = std::max(error, difference);
    }
  return error / static_cast<double>(depth + 2);
}

/// Bound of error_of for operands of at most 1.
template <typename T>
constexpr double rounding = 4.0 * std::numeric_limits<T>::epsilon();

template <typename T>
bool same_bits(const Stored<T>& one, const Stored<T>& other) {
  return one.memory().size() == other.memory().size() &&
         std::memcmp(one.memory().data(), other.memory().data(), one.memory().size() * sizeof(T)) ==
             0;
}

/// Elements of the memory that are no elements of the matrix and yet were written.
template <typename T>
int writes_between_rows(const Stored<T>& stored) {
  const Matrix<T> view = stored.view();
  int written = 0;
  for (std::int64_t at = 0; at < static_cast<std::int64_t>(stored.memory().size()); ++at) {
    const bool element = at / view.row_stride < view.rows && at % view.row_stride < view.cols;
    if (!element && !std::isnan(stored.memory()[static_cast<std::size_t>(at)])) ++written;
  }
  return written;
}

}  // namespace shardlab::cpu
