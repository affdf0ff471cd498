#include "results/resample.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/core/check.h"

namespace shardlab::results {

Resample::Resample(std::span<const double> values, std::size_t block)
    : place_(values.size()), drawn_(values.size()), block_(block) {
  check(!values.empty(), "bootstrap of no values");
  check(values.size() >> 32 == 0, "bootstrap of {} values: more than 2^32", values.size());
  check(block >= 1 && block <= values.size(), "bootstrap of {} values in blocks of {}",
        values.size(), block);
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    place_[order[i]] = i;
    sorted_.push_back(values[order[i]]);
  }
}

double Resample::value_at(std::size_t position) const {
  std::size_t value = 0;
  for (std::size_t before = drawn_[0]; before <= position; before += drawn_[value]) ++value;
  return sorted_[value];
}

// Counting how often each value is drawn costs less than sorting the draws.
double Resample::median(Random& random) {
  const std::size_t n = sorted_.size();
  std::ranges::fill(drawn_, 0);
  if (block_ == 1) {
    for (std::size_t i = 0; i < n; ++i) ++drawn_[random.below(n)];
  } else {
    for (std::size_t i = 0; i < n;) {
      std::size_t at = random.below(n);
      for (const std::size_t end = std::min(n, i + block_); i < end; ++i, ++at)
        ++drawn_[place_[at < n ? at : at - n]];
    }
  }
  const double upper = value_at(n / 2);
  return n % 2 == 1 ? upper : std::midpoint(value_at(n / 2 - 1), upper);
}

Interval percentiles(std::vector<double> numbers, double coverage) {
  check(!numbers.empty(), "bootstrap with {} resamples", numbers.size());
  check(coverage > 0 && coverage < 1, "bootstrap with coverage {}", coverage);
  std::ranges::sort(numbers);
  const double outside = std::floor((1 - coverage) / 2 * static_cast<double>(numbers.size()));
  const auto cut = std::min(static_cast<std::size_t>(outside), (numbers.size() - 1) / 2);
  return {numbers[cut], numbers[numbers.size() - 1 - cut]};
}

}  // namespace shardlab::results
