#include "results/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/core/check.h"

namespace shardlab::results {
namespace {

struct Scale {
  double size = 1;
  const char* name = "";
};

/// The unit in which a number reads well.
Scale scale_of(Quantity quantity, double value) {
  static constexpr std::array<Scale, 4> seconds{
      {{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1, "s"}}};
  static constexpr std::array<Scale, 5> bytes{{{1, "B"},
                                               {1024, "KiB"},
                                               {1024.0 * 1024, "MiB"},
                                               {1024.0 * 1024 * 1024, "GiB"},
                                               {1024.0 * 1024 * 1024 * 1024, "TiB"}}};
  const auto largest = [value](const auto& scales) {
    Scale best = scales.front();
    for (const Scale& scale : scales)
      if (std::abs(value) >= scale.size * 0.9995) best = scale;
    return best;
  };
  switch (quantity) {
    case Quantity::seconds:
      return largest(seconds);
    case Quantity::bytes:
      return largest(bytes);
    case Quantity::percent:
      return {0.01, "%"};
    case Quantity::count:
      break;
  }
  return {};
}

std::string titled(const std::string& title, const Scale& scale) {
  return *scale.name == '\0' ? title : fmt::format("{}, {}", title, scale.name);
}

/// Without the noise of binary fractions.
std::string number(double value) {
  return fmt::format("{:.6g}", std::abs(value) < 1e-12 ? 0 : value);
}

std::string with_unit(Quantity quantity, double value) {
  const Scale scale = scale_of(quantity, value);
  return fmt::format("{:.4g}{}{}", value / scale.size, *scale.name == '\0' ? "" : " ", scale.name);
}

std::pair<double, double> ends_of(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {*low, *high};
}

}  // namespace

double Axis::place_of(double value) const {
  double place = 0;
  if (!logarithmic)
    place = (value - low) / (high - low);
  else if (value > 0)
    place = std::log(value / low) / std::log(high / low);
  return std::clamp(std::isnan(place) ? 0.0 : place, 0.0, 1.0);
}

bool is_worth_drawing(const Plot& plot) {
  std::size_t marks = plot.boxes.size();
  for (const Trail& trail : plot.trails) marks += trail.marks.size();
  return marks > 1;
}

Axis logarithmic_axis(const std::string& title, Quantity quantity,
                      const std::vector<double>& values) {
  check(!values.empty(), "a logarithmic axis needs a value");
  auto [least, most] = ends_of(values);
  check(least > 0 && std::isfinite(most),
        "a logarithmic axis needs finite values above zero, found {} to {}", least, most);
  const double room = std::max(std::pow(most / least, 0.06), 1.15);
  const Scale scale = scale_of(quantity, most);
  Axis axis{.title = titled(title, scale), .logarithmic = true};
  axis.low = least / room;
  axis.high = most * room;
  const double decades = std::log10(axis.high / axis.low);
  const bool wide = decades > 4;  // No unit reads well at both ends.
  if (wide) axis.title = title;
  const double stride = std::max(1.0, std::ceil(decades / 7));
  const double first = std::floor(std::log10(axis.low / scale.size));
  // The coarsest digits that leave at least three ticks.
  const std::vector<std::vector<double>> digits{
      {1},
      {1, 2, 5},
      {1, 1.5, 2, 3, 4, 5, 6, 8},
      {1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9}};
  for (std::size_t fine = decades > 3 ? 0 : 1; fine < digits.size() && axis.ticks.size() < 3;
       ++fine) {
    axis.ticks.clear();
    for (double decade = first; decade <= std::log10(axis.high / scale.size); decade += stride)
      for (const double digit : digits[fine])
        if (const double at = digit * std::pow(10, decade) * scale.size;
            at >= axis.low && at <= axis.high)
          axis.ticks.push_back({at, wide ? with_unit(quantity, at) : number(at / scale.size)});
  }
  if (axis.ticks.size() < 2) {
    axis.ticks.clear();
    for (const double at : {least, most})
      if (axis.ticks.empty() || at > least * 1.01)
        axis.ticks.push_back({at, fmt::format("{:.3g}", at / scale.size)});
  }
  return axis;
}

Axis linear_axis(const std::string& title, Quantity quantity, const std::vector<double>& values) {
  check(!values.empty(), "an axis needs a value");
  auto [least, most] = ends_of(values);
  check(std::isfinite(least) && std::isfinite(most), "an axis needs finite values, found {} to {}",
        least, most);
  least = std::min(least, 0.0);
  most = std::max(most, 0.0);
  const double largest = std::max(-least, most);
  const Scale scale = scale_of(quantity, largest > 0 ? largest : 1);
  if (least == most) most = scale.size;
  Axis axis{.title = titled(title, scale)};
  const double span = (most - least) / scale.size;
  double step = std::pow(10, std::floor(std::log10(span)));
  for (const double part : {0.5, 0.2, 0.1})
    if (span / step < 4) step = part * std::pow(10, std::floor(std::log10(span)));
  axis.low = std::floor(least / scale.size / step + 1e-9) * step * scale.size;
  axis.high = std::ceil(most / scale.size / step - 1e-9) * step * scale.size;
  const auto count = static_cast<int>(std::lround((axis.high - axis.low) / scale.size / step));
  for (int i = 0; i <= count; ++i) {
    const double at = axis.low / scale.size + i * step;
    axis.ticks.push_back({at * scale.size, number(at)});
  }
  return axis;
}

Axis ranks_axis(const std::vector<std::int64_t>& ranks) {
  check(!ranks.empty(), "an axis needs a number of ranks");
  std::vector<std::int64_t> sorted = ranks;
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  Axis axis{.title = "ranks", .logarithmic = true};
  const auto least = static_cast<double>(sorted.front());
  const auto most = static_cast<double>(sorted.back());
  const double room = std::max(std::pow(most / least, 0.05), 1.1);
  axis.low = least / room;
  axis.high = most * room;
  for (const std::int64_t each : sorted) {
    const auto at = static_cast<double>(each);
    const bool has_room =
        axis.ticks.empty() || axis.place_of(at) - axis.place_of(axis.ticks.back().at) > 0.04;
    if (has_room) axis.ticks.push_back({at, std::to_string(each)});
  }
  return axis;
}

Axis rows_axis(const std::vector<std::string>& names) {
  Axis axis{.rows = true};
  axis.high = static_cast<double>(std::max<std::size_t>(names.size(), 1));
  for (std::size_t i = 0; i < names.size(); ++i)
    axis.ticks.push_back({static_cast<double>(i) + 0.5, names[i]});
  return axis;
}

}  // namespace shardlab::results
