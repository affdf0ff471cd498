#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/dtype.h"
#include "engine/sim/quantity.h"

namespace shardlab::sim {

/// Kernels whose rate depends on their size in the same way.
enum class Family : std::uint8_t { matmul, attention, attention_gradient, pointwise };

[[nodiscard]] const char* name_of(Family family);

/// Sizes rising, each with what was measured there.
using Points = std::vector<std::pair<double, double>>;

/// Rate of kernels against their size; several of one family and precision complete each other.
///
/// Units    Flop and flop per second; bytes and bytes per second for pointwise, of any precision.
struct Curve {
  Family family = Family::matmul;
  std::string op;  ///< The only op of the family that it is of; empty: of those without their own.
  Precision precision;
  Points points;
  Source source = Source::vendor;
  std::string from;
  double half_width = 0.25;
  friend bool operator==(const Curve& a, const Curve& b);
};

/// Seconds of a collective against its bytes, on some ranks and hosts.
struct CollectiveCurve {
  std::string collective;
  int ranks = 0;
  int hosts = 0;
  Points points;
  Source source = Source::vendor;
  std::string from;
  double half_width = 0.25;
  std::pair<int, int> log_ranks = {};  ///< Of a derived curve: fewest and most ranks of its logs.

  /// Whether it is of fewer or more ranks than the logs that it was derived from.
  [[nodiscard]] bool extrapolated() const {
    return log_ranks.second > 0 && (ranks < log_ranks.first || ranks > log_ranks.second);
  }
  friend bool operator==(const CollectiveCurve&, const CollectiveCurve&) = default;
};

/// Whether two curves say the same thing of one machine, so that one may stand for the other.
[[nodiscard]] bool same_subject(const Curve& a, const Curve& b);
[[nodiscard]] bool same_subject(const CollectiveCurve& a, const CollectiveCurve& b);

/// Hosts of equal GPUs and the wires between them: numbers and words by path, and curves.
struct Machine {
  std::string name;
  std::map<std::string, Quantity, std::less<>> numbers;
  std::map<std::string, std::string, std::less<>> words;
  std::vector<Curve> curves;
  std::vector<CollectiveCurve> collectives;

  [[nodiscard]] bool has(std::string_view path) const { return numbers.contains(path); }

  /// Errors   Error{invalid} naming machine and path if it has no such number or word.
  [[nodiscard]] const Quantity& number(std::string_view path) const;
  [[nodiscard]] double value(std::string_view path) const { return number(path).value; }
  [[nodiscard]] double value_or(std::string_view path, double otherwise) const {
    return has(path) ? value(path) : otherwise;
  }
  [[nodiscard]] const std::string& word(std::string_view path) const;

  friend bool operator==(const Machine&, const Machine&) = default;
};

/// The peak that bounds a curve: `gpu.memory_bandwidth` or `gpu.peak.PRECISION`.
[[nodiscard]] std::string peak_path(Family family, Precision precision);

/// What every machine of its kind must have and this one has not.
[[nodiscard]] std::vector<std::string> missing(const Machine& machine);

/// A machine that takes from `base` what it does not say itself.
///
/// Curves replace those of the same subject. An inherited curve whose peak differs here is scaled
/// by the ratio and called derived; one of a collective whose wires differ here is left out.
[[nodiscard]] Machine extended(const Machine& base, Machine machine);

}  // namespace shardlab::sim
