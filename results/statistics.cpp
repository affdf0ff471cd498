#include "results/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "engine/core/check.h"

namespace shardlab::results {
namespace {

// SplitMix64: the distributions of the standard library differ between implementations.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::size_t below(std::size_t n) {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return ((x ^ (x >> 31)) >> 32) * n >> 32;
  }

 private:
  std::uint64_t state_;
};

// Counting how often each value is drawn costs less than sorting the draws.
double median_of_resample(std::span<const double> sorted, Random& random) {
  const std::size_t n = sorted.size();
  std::vector<std::uint32_t> drawn(n);
  for (std::size_t i = 0; i < n; ++i) ++drawn[random.below(n)];
  const auto value_at = [&](std::size_t position) {
    std::size_t value = 0;
    for (std::size_t before = drawn[0]; before <= position; before += drawn[value]) ++value;
    return sorted[value];
  };
  const double upper = value_at(n / 2);
  return n % 2 == 1 ? upper : std::midpoint(value_at(n / 2 - 1), upper);
}

}  // namespace

double median(std::span<const double> values) {
  check(!values.empty(), "median of no values");
  std::vector<double> copy(values.begin(), values.end());
  const auto middle = copy.begin() + static_cast<std::ptrdiff_t>(copy.size() / 2);
  std::nth_element(copy.begin(), middle, copy.end());
  if (copy.size() % 2 == 1) return *middle;
  return std::midpoint(*std::max_element(copy.begin(), middle), *middle);
}

Interval bootstrap_median(std::span<const double> values, const Bootstrap& options) {
  check(!values.empty(), "bootstrap of no values");
  check(values.size() >> 32 == 0, "bootstrap of {} values: more than 2^32", values.size());
  check(options.resamples > 0, "bootstrap with {} resamples", options.resamples);
  check(options.coverage > 0 && options.coverage < 1, "bootstrap with coverage {}",
        options.coverage);
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  Random random(options.seed);
  std::vector<double> medians(static_cast<std::size_t>(options.resamples));
  for (double& m : medians) m = median_of_resample(sorted, random);
  std::ranges::sort(medians);
  const double outside =
      std::floor((1 - options.coverage) / 2 * static_cast<double>(medians.size()));
  const auto cut = std::min(static_cast<std::size_t>(outside), (medians.size() - 1) / 2);
  return {medians[cut], medians[medians.size() - 1 - cut]};
}

}  // namespace shardlab::results
