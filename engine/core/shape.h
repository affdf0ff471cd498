#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace shardlab {

/// Most dims a tensor may have: a 3-D image cut into patches needs eight.
inline constexpr int max_ndim = 8;

/// Extents of a tensor, outermost first, stored in place.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> extents);
  explicit Shape(std::span<const std::int64_t> extents);

  [[nodiscard]] int ndim() const { return ndim_; }
  [[nodiscard]] std::int64_t operator[](int dim) const { return extents_[dim]; }
  std::int64_t& operator[](int dim) { return extents_[dim]; }
  [[nodiscard]] const std::int64_t* begin() const { return extents_.data(); }
  [[nodiscard]] const std::int64_t* end() const { return extents_.data() + ndim_; }

  /// Appends an innermost dim.
  void push_back(std::int64_t extent);

  /// Number of elements; 1 for a scalar.
  [[nodiscard]] std::int64_t count() const {
    std::int64_t n = 1;
    for (int d = 0; d < ndim_; ++d) n *= extents_[d];
    return n;
  }

  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.ndim_ != b.ndim_) return false;
    for (int d = 0; d < a.ndim_; ++d)
      if (a.extents_[d] != b.extents_[d]) return false;
    return true;
  }

 private:
  std::array<std::int64_t, max_ndim> extents_{};
  int ndim_ = 0;
};

/// Distances between neighbours of each dim.
///
/// Units    Elements, never bytes.
using Strides = std::array<std::int64_t, max_ndim>;

/// Strides of a dense tensor in C order.
[[nodiscard]] Strides dense_strides(const Shape& shape);

/// Whether elements lie in C order without gaps (dims of extent 1 have no say, nor do empty ones).
[[nodiscard]] bool is_dense(const Shape& shape, const Strides& strides);

/// Counts a dim from the end when negative.
///
/// Errors   Error{invalid} naming `what` if there is no such dim.
[[nodiscard]] int resolve_dim(int dim, int ndim, const char* what);

/// As printed: `[2, 3]`.
[[nodiscard]] std::string to_string(const Shape& shape);

}  // namespace shardlab
