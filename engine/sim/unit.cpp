#include "engine/sim/unit.h"

#include <algorithm>
#include <array>

namespace shardlab::sim {
namespace {

constexpr double kibi = 1024;
constexpr double mebi = kibi * 1024;
constexpr double gibi = mebi * 1024;
constexpr double tebi = gibi * 1024;

constexpr std::array known{
    Unit{"count", Dimension::count, 1},
    Unit{"B", Dimension::bytes, 1},
    Unit{"kB", Dimension::bytes, 1e3},
    Unit{"MB", Dimension::bytes, 1e6},
    Unit{"GB", Dimension::bytes, 1e9},
    Unit{"TB", Dimension::bytes, 1e12},
    Unit{"KiB", Dimension::bytes, kibi},
    Unit{"MiB", Dimension::bytes, mebi},
    Unit{"GiB", Dimension::bytes, gibi},
    Unit{"TiB", Dimension::bytes, tebi},
    Unit{"FLOP", Dimension::flop, 1},
    Unit{"MFLOP", Dimension::flop, 1e6},
    Unit{"GFLOP", Dimension::flop, 1e9},
    Unit{"TFLOP", Dimension::flop, 1e12},
    Unit{"s", Dimension::seconds, 1},
    Unit{"ms", Dimension::seconds, 1e-3},
    Unit{"us", Dimension::seconds, 1e-6},
    Unit{"ns", Dimension::seconds, 1e-9},
    Unit{"B/s", Dimension::bytes_per_second, 1},
    Unit{"MB/s", Dimension::bytes_per_second, 1e6},
    Unit{"GB/s", Dimension::bytes_per_second, 1e9},
    Unit{"TB/s", Dimension::bytes_per_second, 1e12},
    Unit{"MiB/s", Dimension::bytes_per_second, mebi},
    Unit{"GiB/s", Dimension::bytes_per_second, gibi},
    Unit{"TiB/s", Dimension::bytes_per_second, tebi},
    Unit{"Mbit/s", Dimension::bytes_per_second, 1e6 / 8},
    Unit{"Gbit/s", Dimension::bytes_per_second, 1e9 / 8},
    Unit{"Tbit/s", Dimension::bytes_per_second, 1e12 / 8},
    Unit{"FLOP/s", Dimension::flop_per_second, 1},
    Unit{"MFLOP/s", Dimension::flop_per_second, 1e6},
    Unit{"GFLOP/s", Dimension::flop_per_second, 1e9},
    Unit{"TFLOP/s", Dimension::flop_per_second, 1e12},
    Unit{"PFLOP/s", Dimension::flop_per_second, 1e15},
    Unit{"Hz", Dimension::hertz, 1},
    Unit{"MHz", Dimension::hertz, 1e6},
    Unit{"GHz", Dimension::hertz, 1e9},
    Unit{"W", Dimension::watts, 1},
    Unit{"share", Dimension::share, 1},
};

}  // namespace

const char* name_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::count:
      return "a count";
    case Dimension::bytes:
      return "bytes";
    case Dimension::flop:
      return "flop";
    case Dimension::seconds:
      return "seconds";
    case Dimension::bytes_per_second:
      return "bytes per second";
    case Dimension::flop_per_second:
      return "flop per second";
    case Dimension::hertz:
      return "hertz";
    case Dimension::watts:
      return "watts";
    case Dimension::share:
      return "a share";
  }
  return "unknown";
}

std::span<const Unit> units() { return known; }

const Unit* find_unit(std::string_view name) {
  const auto found = std::find_if(known.begin(), known.end(),
                                  [name](const Unit& unit) { return unit.name == name; });
  return found == known.end() ? nullptr : found;
}

const Unit& si_unit(Dimension dimension) {
  return *std::find_if(known.begin(), known.end(),
                       [dimension](const Unit& unit) { return unit.dimension == dimension; });
}

}  // namespace shardlab::sim
