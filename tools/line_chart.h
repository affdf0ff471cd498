#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace shardlab {

/// A line of values for a terminal, in letters.
struct LineChart {
  /// A part of the values with one level.
  struct Level {
    std::size_t begin = 0;
    std::size_t end = 0;
    double value = 0;
  };

  std::vector<double> values = {};
  std::vector<Level> levels = {};  ///< In order; a line stands between two of them.
  double least_range = 0;          ///< Of the vertical axis, so that noise does not fill it.
  std::string first = {};          ///< Below the first value.
  std::string last = {};           ///< Below the last one.
  std::function<std::string(double)> label = {};  ///< A value with its unit.
};

/// Lines of at most `width` columns; only ASCII letters if `ascii`.
///
/// Where there are more values than columns, several share one. Below each line between levels
/// stands its number, from 1.
[[nodiscard]] std::string text_of(const LineChart& chart, std::size_t width, bool ascii);

/// Whether the terminal is set to UTF-8, by LC_ALL, LC_CTYPE or LANG.
[[nodiscard]] bool speaks_utf8();

}  // namespace shardlab
