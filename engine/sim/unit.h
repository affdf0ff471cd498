#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace shardlab::sim {

/// What a number of a machine measures.
enum class Dimension : std::uint8_t {
  count,
  bytes,
  flop,
  seconds,
  bytes_per_second,
  flop_per_second,
  hertz,
  watts,
  share,
};

/// The name of a dimension as errors print it.
[[nodiscard]] const char* name_of(Dimension dimension);

/// A unit as written in machine files, and how many of the SI unit it is.
struct Unit {
  std::string_view name;
  Dimension dimension;
  double factor;
};

/// Every unit that is read; the one of factor 1 comes first in its dimension.
[[nodiscard]] std::span<const Unit> units();

/// Null for an unknown name.
[[nodiscard]] const Unit* find_unit(std::string_view name);

/// The unit of factor 1.
[[nodiscard]] const Unit& si_unit(Dimension dimension);

}  // namespace shardlab::sim
