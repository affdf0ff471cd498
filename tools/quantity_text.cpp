#include <fmt/format.h>

#include <cmath>

#include "tools/machine_text.h"
#include "tools/table.h"

namespace shardlab {
namespace {

/// People read bytes in powers of 1,024 and rates in powers of 1,000.
bool is_for_people(const sim::Unit& unit) {
  const bool binary = unit.name.find('i') != std::string_view::npos;
  return unit.factor == 1 || binary == (unit.dimension == sim::Dimension::bytes);
}

const sim::Unit& unit_of(sim::Dimension dimension, double value) {
  const sim::Unit* best = &sim::si_unit(dimension);
  const double size = std::abs(value) * (1 + 1e-9);
  for (const sim::Unit& unit : sim::units()) {
    if (unit.dimension != dimension || !is_for_people(unit)) continue;
    const bool best_fits = best->factor <= size;
    if (unit.factor <= size ? !best_fits || unit.factor > best->factor
                            : !best_fits && size > 0 && unit.factor < best->factor)
      best = &unit;
  }
  return *best;
}

std::string number(double value) {
  return std::abs(value) < 1e7 && value == std::floor(value) ? fmt::format("{:.0f}", value)
                                                             : fmt::format("{:.4g}", value);
}

std::string bound(double value) {
  return std::abs(value) < 1000 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
}

std::string behind(const sim::Unit& unit) {
  return unit.dimension == sim::Dimension::count ? "" : " " + std::string(unit.name);
}

}  // namespace

std::string show_quantity(sim::Dimension dimension, double value) {
  if (dimension == sim::Dimension::flop) return show_flop(value);
  const sim::Unit& unit = unit_of(dimension, value);
  return number(value / unit.factor) + behind(unit);
}

std::string show_quantity_range(sim::Dimension dimension, double value, double half_width) {
  const double high = value * (1 + half_width);
  const sim::Unit& unit = unit_of(dimension, high);
  return fmt::format("{} .. {}{}", bound(value * (1 - half_width) / unit.factor),
                     bound(high / unit.factor), behind(unit));
}

}  // namespace shardlab
