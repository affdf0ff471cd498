#include "results/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "results/escape.h"

namespace shardlab::results {
namespace {

constexpr double width = 720;
constexpr double letter = 7.3;  // Of a wide font; which one it is, is not known here.
constexpr double line_height = 18;
constexpr double least_pattern =
    8;  // Narrower patterns show nothing, and printing them takes long.

std::size_t letters(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// The first letters of a text that is too long.
std::string shortened(const std::string& text, std::size_t most) {
  if (letters(text) <= most) return text;
  std::string cut;
  std::size_t count = 0;
  for (const char c : text) {
    if ((c & 0xC0) != 0x80 && ++count >= most) break;
    cut += c;
  }
  return cut + "…";
}

std::string titled(const std::string& note) {
  return note.empty() ? "" : "<title>" + markup_text(note) + "</title>";
}

class Drawing {
 public:
  Drawing(const Plot& plot, bool alone) : plot_(plot), alone_(alone) {
    least_pattern_ = plot.boxes.size() > 200 ? 24 : 6;
    std::size_t longest = 0;
    for (const Tick& tick : plot.y.ticks) longest = std::max(longest, letters(tick.text));
    most_letters_ = std::min<std::size_t>(longest, 38);
    left_ = static_cast<double>(most_letters_) * letter + (plot.y.rows ? 14 : 36);
    right_ = width - 24;
    top_ = (alone ? 34 : 8) + draw_legend(alone ? 34 : 8);
    bottom_ = top_ + (plot.y.rows ? std::max(40.0, plot.y.high * 22) : 300);
    height_ = bottom_ + 44;
  }

  std::string text(const std::string& attributes, const std::string& before) {
    draw_axes();
    for (const Box& box : plot_.boxes) draw(box);
    for (const Trail& trail : plot_.trails) draw(trail);
    std::string head = fmt::format(
        "<svg class=\"plot\" viewBox=\"0 0 {} {:.0f}\" role=\"img\" aria-label=\"{}\"{}>{}", width,
        height_, markup_text(plot_.title), attributes, before);
    if (alone_)
      head += fmt::format(
          "<rect class=\"paper\" width=\"{}\" height=\"{:.0f}\"/>"
          "<text class=\"title\" x=\"12\" y=\"22\">{}</text>",
          width, height_, markup_text(shortened(plot_.title, 84)));
    return head + text_ + "</svg>";
  }

 private:
  [[nodiscard]] double x_of(double value) const {
    return left_ + plot_.x.place_of(value) * (right_ - left_);
  }
  [[nodiscard]] double y_of(double value) const {
    const double place = plot_.y.place_of(value);
    return plot_.y.rows ? top_ + place * (bottom_ - top_) : bottom_ - place * (bottom_ - top_);
  }

  void write(double x, double y, const char* anchor, const std::string& text,
             const char* style = "") {
    text_ += fmt::format("<text{} x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>", style, x, y, anchor,
                         markup_text(text));
  }

  void line(double x0, double y0, double x1, double y1, const std::string& look) {
    text_ += fmt::format("<path {} d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>", look, x0, y0, x1, y1);
  }

  /// Entries one after the other; returns the height that they take.
  double draw_legend(double top) {
    double x = 12;
    double y = top + 8;
    const auto next = [&](const std::string& name) {
      const double needed = 32 + static_cast<double>(letters(name)) * letter + 16;
      if (x > 12 && x + needed > width) {
        x = 12;
        y += line_height;
      }
      const double at = x;
      x += needed;
      write(at + 32, y + 4, "", name);
      return at;
    };
    bool any = false;
    bool flagged = false;
    for (const Key& key : plot_.keys) {
      const double at = next(key.name);
      text_ += fmt::format(
          "<rect class=\"b{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"24\" "
          "height=\"12\"/>",
          key.tone % tones, at, y - 6);
      any = true;
    }
    for (const Trail& trail : plot_.trails) {
      for (const PlotPoint& mark : trail.marks) flagged = flagged || mark.flagged;
      if (trail.name.empty()) continue;
      const double at = next(trail.name);
      if (trail.dash != Dash::none) line(at, y, at + 24, y, line_look(trail));
      draw_marker(trail, at + 12, y, "");
      any = true;
    }
    if (flagged) {
      const double at = next("better than ideal");
      draw_flag(at + 12, y + 6);
      any = true;
    }
    return any ? y - top + line_height : 0;
  }

  void draw_axes() {
    for (const Tick& tick : plot_.x.ticks) {
      const double x = x_of(tick.at);
      line(x, top_, x, bottom_, "class=\"grid\"");
      write(x, bottom_ + 16, " text-anchor=\"middle\"", tick.text);
    }
    for (const Tick& tick : plot_.y.ticks) {
      const double y = y_of(tick.at);
      if (!plot_.y.rows) line(left_, y, right_, y, "class=\"grid\"");
      write(left_ - 6, y + 4, " text-anchor=\"end\"", shortened(tick.text, most_letters_));
    }
    text_ += fmt::format("<path class=\"axis\" d=\"M{0:.1f} {1:.1f}V{2:.1f}H{3:.1f}\"/>", left_,
                         top_, bottom_, right_);
    write((left_ + right_) / 2, bottom_ + 36, " text-anchor=\"middle\"", plot_.x.title,
          " class=\"faint\"");
    if (!plot_.y.title.empty())
      text_ += fmt::format(
          "<text class=\"faint\" text-anchor=\"middle\" transform=\"translate(14 {:.1f}) "
          "rotate(-90)\">{}</text>",
          (top_ + bottom_) / 2, markup_text(plot_.y.title));
  }

  void draw(const Box& box) {
    const double x0 = std::min(x_of(box.x0), x_of(box.x1));
    const double wide = std::max(std::abs(x_of(box.x1) - x_of(box.x0)), 0.5);
    const double y0 = std::min(y_of(box.y0), y_of(box.y1));
    const double high = std::abs(y_of(box.y1) - y_of(box.y0));
    text_ += fmt::format(
        "<rect class=\"{}{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"",
        wide < least_pattern_ ? 's' : 'b', box.tone % tones, x0, y0, wide, high);
    text_ += box.note.empty() ? "/>" : ">" + titled(box.note) + "</rect>";
    if (!box.text.empty() && static_cast<double>(letters(box.text)) * letter + 6 < wide)
      write(x0 + wide / 2, y0 + high / 2 + 4, " text-anchor=\"middle\"", box.text, " class=\"in\"");
    else if (box.beside)
      write_beside(box, x0, x0 + wide, y0 + high / 2 + 4);
  }

  /// To the right of a box, or to the left where the plot ends.
  void write_beside(const Box& box, double x0, double x1, double y) {
    const bool right = x1 + 6 + static_cast<double>(letters(box.text)) * letter < width;
    write(right ? x1 + 5 : x0 - 5, y, right ? "" : " text-anchor=\"end\"", box.text,
          " class=\"in\"");
  }

  [[nodiscard]] static std::string line_look(const Trail& trail) {
    const char* dashes = trail.dash == Dash::dashed   ? " stroke-dasharray=\"7 4\""
                         : trail.dash == Dash::dotted ? " stroke-dasharray=\"2 4\""
                                                      : "";
    return (trail.tone < 0 ? "class=\"ink\"" : fmt::format("class=\"l{}\"", trail.tone % tones)) +
           " stroke-width=\"1.6\"" + dashes;
  }

  void draw_marker(const Trail& trail, double x, double y, const std::string& note) {
    const std::string look =
        trail.tone < 0 ? "class=\"inkfill\""
                       : fmt::format("class=\"{}{}\"", trail.marker == Marker::circle ? 'o' : 'd',
                                     trail.tone % tones);
    const std::string end = note.empty() ? "/>" : ">" + titled(note) + "</";
    switch (trail.marker) {
      case Marker::none:
        return;
      case Marker::disc:
      case Marker::circle:
        text_ +=
            fmt::format("<circle {} stroke-width=\"1.8\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"{}",
                        look, x, y, note.empty() ? end : end + "circle>");
        return;
      case Marker::square:
        text_ += fmt::format("<rect {} x=\"{:.1f}\" y=\"{:.1f}\" width=\"7\" height=\"7\"{}", look,
                             x - 3.5, y - 3.5, note.empty() ? end : end + "rect>");
        return;
      case Marker::cross:
        text_ += fmt::format("<path {} stroke-width=\"2\" d=\"M{:.1f} {:.1f}l8 8m0-8l-8 8\"{}",
                             look, x - 4, y - 4, note.empty() ? end : end + "path>");
        return;
    }
  }

  void draw_flag(double x, double y) {
    text_ += fmt::format("<path class=\"inkfill\" d=\"M{:.1f} {:.1f}l4 -7h-8z\"/>", x, y);
  }

  /// A bar that leaves the axes ends there, without the cap that an end has.
  void draw_interval(const Trail& trail, const PlotPoint& mark) {
    const double x = x_of(mark.x);
    const double low = y_of(mark.interval->low);
    const double high = y_of(mark.interval->high);
    const std::string look = line_look({.tone = trail.tone});
    line(x, low, x, high, look);
    const auto inside = [&](double value) { return value >= plot_.y.low && value <= plot_.y.high; };
    if (inside(mark.interval->low)) line(x - 4, low, x + 4, low, look);
    if (inside(mark.interval->high)) line(x - 4, high, x + 4, high, look);
  }

  void draw(const Trail& trail) {
    if (trail.dash != Dash::none) {
      std::string path;
      for (const PlotPoint& mark : trail.marks)
        path += fmt::format("{}{:.1f} {:.1f}", path.empty() || !mark.joined ? "M" : "L",
                            x_of(mark.x), y_of(mark.y));
      text_ += fmt::format("<path {} d=\"{}\"/>", line_look(trail), path);
    }
    for (const PlotPoint& mark : trail.marks) {
      if (mark.interval) draw_interval(trail, mark);
      draw_marker(trail, x_of(mark.x), y_of(mark.y), mark.note);
      if (mark.flagged) draw_flag(x_of(mark.x), y_of(mark.y) - 9);
    }
  }

  const Plot& plot_;
  bool alone_;
  std::size_t most_letters_ = 0;
  double least_pattern_ = 0;  // Of narrower boxes it shows nothing, and many take long to print.
  double left_ = 0, right_ = 0, top_ = 0, bottom_ = 0, height_ = 0;
  std::string text_;
};

}  // namespace

std::string svg_of(const Plot& plot) { return Drawing(plot, false).text("", ""); }

std::string svg_file(const Plot& plot, Theme theme) {
  return Drawing(plot, true)
             .text(" xmlns=\"http://www.w3.org/2000/svg\" width=\"720\"",
                   "<style>" + svg_style(theme) + "</style>" + svg_patterns()) +
         "\n";
}

}  // namespace shardlab::results
