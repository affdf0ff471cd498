#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/statistics.h"

namespace shardlab::results {

/// A number on an axis that is written beside it.
struct Tick {
  double at = 0;  ///< As the marks, not in the unit of the axis.
  std::string text = {};
};

/// One side of a plot.
struct Axis {
  std::string title = {};  ///< With the unit of the ticks.
  bool logarithmic = false;
  bool rows = false;  ///< Rows 0, 1, ... from the top, whose ticks are their names.
  double low = 0;
  double high = 1;
  std::vector<Tick> ticks = {};

  /// Where a value lies between the ends, 0 to 1; beyond them it is clipped.
  [[nodiscard]] double place_of(double value) const;
};

/// What tells kinds of numbers apart without colour.
enum class Marker : std::uint8_t { none, disc, square, circle, cross };
enum class Dash : std::uint8_t { none, solid, dashed, dotted };

/// One point of a trail.
struct PlotPoint {
  double x = 0;
  double y = 0;
  std::optional<Interval> interval = {};  ///< Of y.
  bool joined = true;     ///< By a line with the mark before; false where one is missing.
  bool flagged = false;   ///< Better than ideal.
  std::string note = {};  ///< What it is, with its numbers.
};

/// Points that belong together.
struct Trail {
  std::string name = {};  ///< Empty: not in the legend.
  int tone = 0;           ///< Of the palette; negative: ink.
  Marker marker = Marker::disc;
  Dash dash = Dash::solid;
  std::vector<PlotPoint> marks = {};
};

/// A filled rectangle.
struct Box {
  double x0 = 0;
  double x1 = 0;
  double y0 = 0;
  double y1 = 0;
  int tone = 0;           ///< Each has a pattern of its own, too.
  std::string text = {};  ///< Written inside where there is room.
  bool beside = false;    ///< Where there is none, the text stands beside it.
  std::string note = {};
};

/// What a tone of boxes stands for.
struct Key {
  std::string name = {};
  int tone = 0;
};

/// The numbers of a plot as rows.
struct Twin {
  std::vector<std::string> header = {};
  std::vector<std::vector<std::string>> rows = {};
};

/// A plot as values: any renderer draws the same.
struct Plot {
  std::string title = {};
  Axis x = {};
  Axis y = {};
  std::vector<Box> boxes = {};
  std::vector<Trail> trails = {};  ///< Over the boxes.
  std::vector<Key> keys = {};
  std::vector<std::string> notes = {};
  Twin twin = {};
};

/// Whether it shows more than a single point.
[[nodiscard]] bool is_worth_drawing(const Plot& plot);

/// Tones of the palette; higher ones repeat.
inline constexpr int tones = 8;

/// What an axis counts.
enum class Quantity : std::uint8_t { seconds, bytes, percent, count };

/// A logarithmic axis around values above zero, with ticks at 1, 2 and 5 or at the decades.
///
/// Errors   invalid: a value that is not above zero.
[[nodiscard]] Axis logarithmic_axis(const std::string& title, Quantity quantity,
                                    const std::vector<double>& values);

/// An axis from the lower of zero and the least value, with round ticks.
[[nodiscard]] Axis linear_axis(const std::string& title, Quantity quantity,
                               const std::vector<double>& values);

/// A logarithmic axis whose ticks are the ranks that occur.
[[nodiscard]] Axis ranks_axis(const std::vector<std::int64_t>& ranks);

/// An axis of named rows.
[[nodiscard]] Axis rows_axis(const std::vector<std::string>& names);

}  // namespace shardlab::results
