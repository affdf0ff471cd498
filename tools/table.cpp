#include "tools/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace shardlab {
namespace {

/// Columns that a UTF-8 text takes, counting each character as one.
std::size_t columns(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

bool numeric(const std::string& text) {
  return !text.empty() && (std::isdigit(static_cast<unsigned char>(text[0])) != 0 ||
                           text[0] == '-' || text[0] == '~');
}

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

Table::Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }

void Table::row(std::vector<std::string> cells) {
  cells.resize(rows_[0].size());
  rows_.push_back(std::move(cells));
}

std::string Table::text(std::size_t width) const {
  const std::size_t count = rows_[0].size();
  std::vector<std::size_t> widths(count, 0);
  std::vector<bool> right(count, rows_.size() > 1);
  for (std::size_t r = 0; r < rows_.size(); ++r)
    for (std::size_t c = 0; c < count; ++c) {
      widths[c] = std::max(widths[c], columns(rows_[r][c]));
      if (r > 0 && !rows_[r][c].empty() && !numeric(rows_[r][c])) right[c] = false;
    }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < count; ++c) {
      const std::string space(widths[c] - columns(row[c]), ' ');
      line += c == 0 ? "" : "  ";
      line += right[c] ? space + row[c] : row[c] + space;
    }
    while (columns(line) > width) {
      while ((line.back() & 0xC0) == 0x80) line.pop_back();
      line.pop_back();
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

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

}  // namespace shardlab
