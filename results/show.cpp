#include "results/show.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace shardlab::results {
namespace {

std::string scaled(double value, double step, const std::array<const char*, 5>& units) {
  std::size_t unit = 0;
  while (std::abs(value) >= step && unit + 1 < units.size()) {
    value /= step;
    ++unit;
  }
  const int digits = value == std::floor(value) && unit == 0 ? 0
                     : value < 10                            ? 2
                     : value < 100                           ? 1
                                                             : 0;
  return fmt::format("{:.{}f} {}", value, digits, units[unit]);
}

/// Whether three digits show at least one of this unit.
bool rounds_to(double seconds, double unit) { return seconds >= 0.9995 * unit; }

}  // namespace

std::string show_seconds(double seconds) {
  if (rounds_to(seconds, 1)) return fmt::format("{:.3f} s", seconds);
  if (rounds_to(seconds, 1e-3)) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} us", seconds * 1e6);
}

std::string show_range(double low_seconds, double high_seconds) {
  if (rounds_to(high_seconds, 1))
    return fmt::format("{:.3f} .. {:.3f} s", low_seconds, high_seconds);
  if (rounds_to(high_seconds, 1e-3))
    return fmt::format("{:.3g} .. {:.3g} ms", low_seconds * 1e3, high_seconds * 1e3);
  return fmt::format("{:.3g} .. {:.3g} us", low_seconds * 1e6, high_seconds * 1e6);
}

std::string show_bytes(double bytes) {
  return scaled(bytes, 1024, {"B", "KiB", "MiB", "GiB", "TiB"});
}

std::string show_byte_range(double low, double high) {
  const std::string top = show_bytes(high);
  const std::string unit = top.substr(top.find(' ') + 1);
  double step = 1;
  for (const char* each : {"B", "KiB", "MiB", "GiB", "TiB"}) {
    if (unit == each) break;
    step *= 1024;
  }
  return fmt::format("{:.3g} .. {}", low / step, top);
}

std::string show_flop(double flop) {
  return scaled(flop / 1e3, 1000, {"kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"});
}

std::string show_percent(double fraction) { return fmt::format("{:.1f} %", fraction * 100); }

}  // namespace shardlab::results
