#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "engine/core/backend.h"

namespace shardlab::cpu {

/// Numbers of a shape in C order: what tests compute with.
struct Numbers {
  Shape shape;
  std::vector<double> values;

  explicit Numbers(const Shape& shape, double value = 0)
      : shape(shape), values(static_cast<std::size_t>(shape.count()), value) {}

  double& operator[](std::int64_t i) { return values[static_cast<std::size_t>(i)]; }
  double operator[](std::int64_t i) const { return values[static_cast<std::size_t>(i)]; }
};

/// Normal numbers that float32 holds exactly.
inline Numbers random_numbers(const Shape& shape, std::uint64_t seed, double deviation = 1,
                              double mean = 0) {
  Numbers numbers(shape);
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal(mean, deviation);
  for (double& value : numbers.values)
    value = static_cast<double>(static_cast<float>(normal(generator)));
  return numbers;
}

/// Visits indices of a shape in C order with their place in it.
template <typename Visit>
void for_each_index(const Shape& shape, const Visit& visit) {
  std::array<std::int64_t, max_ndim> index{};
  for (std::int64_t place = 0; place < shape.count(); ++place) {
    visit(index, place);
    for (int d = shape.ndim() - 1; d >= 0 && ++index[d] == shape[d]; --d) index[d] = 0;
  }
}

inline void write_element(const View& view, std::int64_t offset, double value) {
  switch (view.dtype) {
    case Dtype::float64:
      view.as<double>()[offset] = value;
      return;
    case Dtype::float32:
      view.as<float>()[offset] = static_cast<float>(value);
      return;
    case Dtype::int64:
      view.as<std::int64_t>()[offset] = static_cast<std::int64_t>(value);
      return;
    default:
      view.as<std::uint16_t>()[offset] = static_cast<std::uint16_t>(value);
  }
}

inline double read_element(const View& view, std::int64_t offset) {
  switch (view.dtype) {
    case Dtype::float64:
      return view.as<double>()[offset];
    case Dtype::float32:
      return static_cast<double>(view.as<float>()[offset]);
    case Dtype::int64:
      return static_cast<double>(view.as<std::int64_t>()[offset]);
    default:
      return view.as<std::uint16_t>()[offset];
  }
}

/// How an operand lies: its dims from the outermost in memory inwards (C order if empty), and
/// elements left free after each innermost one and after each run of the innermost dim.
struct Lie {
  std::vector<int> order;
  int element_gap = 0;
  int run_gap = 0;
};

/// A tensor with any strides. What lies between its elements must stay as it is.
class Operand {
 public:
  Operand(const Numbers& numbers, Dtype dtype, const Lie& lie = {}) {
    const int ndim = numbers.shape.ndim();
    std::int64_t stride = 1 + lie.element_gap;
    for (int i = ndim - 1; i >= 0; --i) {
      const int d = lie.order.empty() ? i : lie.order[static_cast<std::size_t>(i)];
      view_.strides[d] = stride;
      stride *= numbers.shape[d];
      if (i == ndim - 1) stride += lie.run_gap;
    }
    view_.shape = numbers.shape;
    view_.dtype = dtype;
    const std::int64_t count = std::max<std::int64_t>(stride, 1) + 16;
    memory_.assign(static_cast<std::size_t>(count * width_of(dtype)), std::byte{0x5a});
    view_.data = memory_.data() + 8 * width_of(dtype);
    for_each(
        [&](std::int64_t offset, std::int64_t i) { write_element(view_, offset, numbers[i]); });
    written_ = memory_;
  }
  Operand(const Operand&) = delete;
  Operand(Operand&& other) = default;

  [[nodiscard]] const View& view() const { return view_; }

  [[nodiscard]] Numbers numbers() const {
    Numbers numbers(view_.shape);
    for_each(
        [&](std::int64_t offset, std::int64_t i) { numbers[i] = read_element(view_, offset); });
    return numbers;
  }

  /// Whether all bytes that belong to no element are as they were.
  [[nodiscard]] bool gaps_untouched() const {
    std::vector<std::byte> now = memory_;
    const auto width = static_cast<std::size_t>(width_of(view_.dtype));
    const auto base = static_cast<std::size_t>(view_.as<std::byte>() - memory_.data());
    for_each([&](std::int64_t offset, std::int64_t) {
      const std::size_t at = base + static_cast<std::size_t>(offset) * width;
      std::memcpy(now.data() + at, written_.data() + at, width);
    });
    return now == written_;
  }

 private:
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for_each_index(view_.shape, [&](const auto& index, std::int64_t i) {
      std::int64_t offset = 0;
      for (int d = 0; d < view_.shape.ndim(); ++d) offset += index[d] * view_.strides[d];
      visit(offset, i);
    });
  }

  std::vector<std::byte> memory_;
  std::vector<std::byte> written_;
  View view_;
};

/// max |a - b| / max |b|, or the absolute difference where all of b is 0; infinities must agree.
inline double error_of(const Numbers& a, const Numbers& b) {
  if (!(a.shape == b.shape)) return HUGE_VAL;
  double difference = 0;
  double most = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    if (a.values[i] == b.values[i]) continue;
    if (!std::isfinite(b.values[i]) || !std::isfinite(a.values[i])) return HUGE_VAL;
    difference = std::max(difference, std::abs(a.values[i] - b.values[i]));
  }
  for (const double value : b.values)
    if (std::isfinite(value)) most = std::max(most, std::abs(value));
  return most > 0 ? difference / most : difference;
}

}  // namespace shardlab::cpu
