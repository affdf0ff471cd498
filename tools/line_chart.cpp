#include "tools/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <string_view>

namespace shardlab {
namespace {

constexpr std::size_t height = 9;
constexpr std::size_t widest_value = 6;

/// What a place of the grid holds; `text_of` knows how each looks.
enum class Ink : std::uint8_t { none, level, edge, value };

struct Looks {
  const char* level;
  const char* edge;
  const char* value;
  const char* tick;
  const char* side;
  const char* corner;
  const char* floor;
};

constexpr Looks unicode{"─", "┊", "●", "┤", "│", "└", "─"};
constexpr Looks plain{"-", ":", "o", "+", "|", "+", "-"};

const char* look_of(Ink ink, const Looks& looks) {
  switch (ink) {
    case Ink::level:
      return looks.level;
    case Ink::edge:
      return looks.edge;
    case Ink::value:
      return looks.value;
    case Ink::none:
      break;
  }
  return " ";
}

/// The vertical axis: row 0 is the top.
class Axis {
 public:
  explicit Axis(const LineChart& chart) {
    const auto [low, high] = std::ranges::minmax(chart.values);
    const double missing = std::max(0.0, chart.least_range - (high - low));
    low_ = low - missing / 2;
    high_ = high + missing / 2;
    if (high_ <= low_) high_ = low_ + 1;
  }

  [[nodiscard]] double value_at(std::size_t row) const {
    return high_ - (high_ - low_) * static_cast<double>(row) / (height - 1);
  }
  [[nodiscard]] std::size_t row_of(double value) const {
    return static_cast<std::size_t>(
        std::lround((high_ - value) / (high_ - low_) * static_cast<double>(height - 1)));
  }

 private:
  double low_ = 0;
  double high_ = 1;
};

class Grid {
 public:
  Grid(const LineChart& chart, const Axis& axis, std::size_t width)
      : axis_(axis), count_(chart.values.size()) {
    columns_ = std::min(width, count_ * widest_value);
    rows_.assign(height, std::vector<Ink>(columns_, Ink::none));
    below_ = std::string(columns_, ' ');
    for (std::size_t i = 0; i < chart.levels.size(); ++i) draw(chart.levels[i], i);
    for (std::size_t i = 0; i < count_; ++i)
      rows_[axis_.row_of(chart.values[i])][middle_of(i)] = Ink::value;
  }

  [[nodiscard]] const std::vector<Ink>& row(std::size_t r) const { return rows_[r]; }
  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] const std::string& below() const { return below_; }

 private:
  void draw(const LineChart::Level& level, std::size_t number) {
    const std::size_t begin = level.begin * columns_ / count_;
    const std::size_t end = level.end * columns_ / count_;
    for (std::size_t c = begin; c < end; ++c) rows_[axis_.row_of(level.value)][c] = Ink::level;
    if (number == 0) return;
    for (auto& row : rows_) row[begin] = Ink::edge;
    const std::string text = std::to_string(number);
    for (std::size_t i = 0; i < text.size() && begin + i < columns_; ++i)
      below_[begin + i] = text[i];
  }

  [[nodiscard]] std::size_t middle_of(std::size_t value) const {
    return (2 * value + 1) * columns_ / (2 * count_);
  }

  const Axis& axis_;
  std::size_t count_;
  std::size_t columns_ = 0;
  std::vector<std::vector<Ink>> rows_;
  std::string below_;
};

}  // namespace

std::string text_of(const LineChart& chart, std::size_t width, bool ascii) {
  if (chart.values.empty()) return "";
  const Looks& looks = ascii ? plain : unicode;
  const Axis axis(chart);
  constexpr std::size_t tick = height / 2;
  std::vector<std::string> labels(height);
  std::size_t label_width = 0;
  for (std::size_t r = 0; r < height; r += tick) {
    labels[r] = chart.label(axis.value_at(r));
    label_width = std::max(label_width, labels[r].size() + 1);
  }
  const Grid grid(chart, axis, width - label_width - 3);
  std::string text;
  for (std::size_t r = 0; r < height; ++r) {
    text += fmt::format("{:>{}} {}", labels[r], label_width,
                        labels[r].empty() ? looks.side : looks.tick);
    std::string line;
    for (const Ink ink : grid.row(r)) line += look_of(ink, looks);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  const std::string margin(label_width + 1, ' ');
  text += margin + looks.corner;
  for (std::size_t c = 0; c < grid.columns(); ++c) text += looks.floor;
  text += "\n";
  if (const std::string& below = grid.below(); below.find_first_not_of(' ') != std::string::npos)
    text += margin + " " + below.substr(0, below.find_last_not_of(' ') + 1) + "\n";
  const std::size_t words = chart.first.size() + chart.last.size();
  const std::size_t gap = grid.columns() > words + 2 ? grid.columns() - words : 4;
  text += margin + " " + chart.first;
  if (chart.values.size() > 1) text += std::string(gap, ' ') + chart.last;
  return text + "\n";
}

bool speaks_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string lower;
    for (const char c : std::string_view(value))
      if (c != '-') lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace shardlab
