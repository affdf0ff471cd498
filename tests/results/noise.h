#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace shardlab::results {

/// Times of steps as machines give them: a median, noise around it to both sides of its logarithm.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : random_(seed) { random_.discard(8); }

  /// One draw of the normal distribution.
  double normal() {
    return std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform());
  }

  double uniform() { return (static_cast<double>(random_() >> 11) + 0.5) / 9007199254740992.0; }

  std::vector<double> steps(std::size_t count, double median, double spread) {
    std::vector<double> values(count);
    for (double& value : values) value = median * std::exp(spread * normal());
    return values;
  }

  /// Each step resembles the one before.
  std::vector<double> drifting(std::size_t count, double median, double spread, double factor) {
    std::vector<double> values(count);
    double state = normal();
    for (double& value : values) {
      value = median * std::exp(spread * state);
      state = factor * state + std::sqrt(1 - factor * factor) * normal();
    }
    return values;
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace shardlab::results
