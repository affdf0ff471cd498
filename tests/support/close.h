#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "engine/core/shape.h"

namespace shardlab::test {

/// A whole tensor in double, on the host.
struct Values {
  Shape shape;
  std::vector<double> data;

  [[nodiscard]] double operator[](std::int64_t i) const {
    return data[static_cast<std::size_t>(i)];
  }
  double& operator[](std::int64_t i) { return data[static_cast<std::size_t>(i)]; }
};

/// Zeros of a shape.
[[nodiscard]] Values zeros(const Shape& shape);

/// Numbers in -1 .. 1 that depend on their index and `salt` only; none is within 0.01 of 0.
[[nodiscard]] Values numbers(const Shape& shape, int salt = 0);

/// 0, 1, 2, ...
[[nodiscard]] Values counting(const Shape& shape);

/// max |a - b| / max |b|; infinite where one of the two is not finite and they are not equal.
[[nodiscard]] double difference(const std::vector<double>& a, const std::vector<double>& b);

/// Whether shapes are equal and the difference is at most `tolerance`.
[[nodiscard]] testing::AssertionResult close(const Values& found, const Values& expected,
                                             double tolerance);

/// Whether every bit is equal.
[[nodiscard]] testing::AssertionResult same(const Values& found, const Values& expected);

}  // namespace shardlab::test
