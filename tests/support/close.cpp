#include "tests/support/close.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/core/split.h"

namespace shardlab::test {

Values zeros(const Shape& shape) {
  return {shape, std::vector<double>(static_cast<std::size_t>(shape.count()))};
}

Values numbers(const Shape& shape, int salt) {
  Values values = zeros(shape);
  for (std::size_t i = 0; i < values.data.size(); ++i) {
    const std::uint64_t hash = hash_join(hash_join(hash_start, static_cast<std::uint64_t>(salt)),
                                         static_cast<std::uint64_t>(i));
    const double part = static_cast<double>((hash >> 20) % 1'000'003) / 1'000'003.0;
    const double size = 0.01 + 0.98 * part;
    values.data[i] = (hash >> 7 & 1U) != 0 ? size : -size;
  }
  return values;
}

Values counting(const Shape& shape) {
  Values values = zeros(shape);
  for (std::size_t i = 0; i < values.data.size(); ++i) values.data[i] = static_cast<double>(i);
  return values;
}

double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double error = 0;
  double scale = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] == b[i]) {
      if (std::isfinite(b[i])) scale = std::max(scale, std::abs(b[i]));
      continue;
    }
    if (!std::isfinite(a[i]) || !std::isfinite(b[i]))
      return std::numeric_limits<double>::infinity();
    error = std::max(error, std::abs(a[i] - b[i]));
    scale = std::max(scale, std::abs(b[i]));
  }
  return error == 0 ? 0 : error / std::max(scale, 1e-30);
}

testing::AssertionResult close(const Values& found, const Values& expected, double tolerance) {
  if (!(found.shape == expected.shape) || found.data.size() != expected.data.size())
    return testing::AssertionFailure()
           << "shape " << to_string(found.shape) << " instead of " << to_string(expected.shape);
  // Where everything cancels to zero, an absolute measure is the only one.
  double scale = 0;
  double largest = 0;
  for (std::size_t i = 0; i < expected.data.size(); ++i) {
    scale = std::max(scale, std::abs(expected.data[i]));
    largest = std::max(largest, std::abs(found.data[i]));
  }
  if (scale < 1e-12 && largest < tolerance) return testing::AssertionSuccess();
  const double error = difference(found.data, expected.data);
  if (error <= tolerance) return testing::AssertionSuccess();
  testing::AssertionResult result = testing::AssertionFailure() << "error " << error;
  for (std::size_t i = 0, shown = 0; i < expected.data.size() && shown < 4; ++i)
    if (!(std::abs(found.data[i] - expected.data[i]) <= tolerance * scale) &&
        found.data[i] != expected.data[i]) {
      result << ", [" << i << "] is " << found.data[i] << " instead of " << expected.data[i];
      ++shown;
    }
  return result;
}

testing::AssertionResult same(const Values& found, const Values& expected) {
  if (found.shape == expected.shape && found.data == expected.data)
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "shapes " << to_string(found.shape) << " and " << to_string(expected.shape)
         << ", difference " << difference(found.data, expected.data);
}

}  // namespace shardlab::test
