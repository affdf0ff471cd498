#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace shardlab::sim {

/// How a number is known, best first.
enum class Source : std::uint8_t { user_measured, public_measured, derived, vendor };

/// The name of a source as written in machine files.
[[nodiscard]] constexpr const char* name_of(Source source) {
  switch (source) {
    case Source::user_measured:
      return "user_measured";
    case Source::public_measured:
      return "public_measured";
    case Source::derived:
      return "derived";
    case Source::vendor:
      return "vendor";
  }
  return "unknown";
}

[[nodiscard]] constexpr Source weakest(Source a, Source b) { return std::max(a, b); }

/// Relative half width of an 80 % interval where nothing more is known than the source.
[[nodiscard]] constexpr double half_width_of(Source source) {
  switch (source) {
    case Source::user_measured:
      return 0.05;
    case Source::public_measured:
      return 0.10;
    case Source::derived:
      return 0.20;
    default:
      return 0.25;
  }
}

/// A number of a machine, in SI units, with where it comes from.
struct Quantity {
  double value = 0;
  Source source = Source::vendor;
  std::string from;          ///< Page, log or formula.
  double half_width = 0.25;  ///< Relative half width of its 80 % interval.
  friend bool operator==(const Quantity&, const Quantity&) = default;
};

}  // namespace shardlab::sim
