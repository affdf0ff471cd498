#include <fmt/format.h>

#include <array>

#include "results/svg.h"

namespace shardlab::results {
namespace {

struct Colors {
  const char* paper;
  const char* ink;
  const char* faint;
  const char* grid;
  std::array<const char*, tones> shades;
};

/// Told apart by eyes that do not see red or green, and on grey paper by their patterns.
constexpr Colors light{
    "#ffffff",
    "#1d2329",
    "#5b6670",
    "#dfe3e7",
    {"#0b62a4", "#c4510a", "#2b7f6b", "#8a4f9e", "#a8770a", "#4a4f9c", "#a83250", "#5f6b76"}};
constexpr Colors dark{
    "#14181c",
    "#e6eaee",
    "#9fabb6",
    "#2f373f",
    {"#63b3f0", "#f59a5b", "#5fcbb0", "#cf9be3", "#e3bd5a", "#a3a8f5", "#f08aa4", "#aab6c1"}};

std::string rules_of(const Colors& colors) {
  std::string text = fmt::format(
      ".plot text{{fill:{1}}}.plot .faint{{fill:{2}}}.plot .axis{{stroke:{2};fill:none}}"
      ".plot .grid{{stroke:{3};fill:none}}.plot .paper{{fill:{0}}}"
      ".plot .in{{fill:{1};stroke:{0};stroke-width:3px;stroke-linejoin:round;paint-order:stroke}}"
      ".plot .ink{{stroke:{1};fill:none}}.plot .inkfill{{fill:{1};stroke:{1}}}",
      colors.paper, colors.ink, colors.faint, colors.grid);
  for (std::size_t i = 0; i < colors.shades.size(); ++i)
    text += fmt::format(
        ".plot .l{0}{{stroke:{1};fill:none}}.plot .d{0}{{stroke:{1};fill:{1}}}"
        ".plot .o{0}{{stroke:{1};fill:{2}}}.plot .b{0}{{fill:url(#shade{0});stroke:{2};"
        "stroke-width:.5px}}.plot .s{0}{{fill:{1}}}.plot .h{0}{{stroke:{2};fill:none}}",
        i, colors.shades[i], colors.paper);
  return text;
}

}  // namespace

std::string svg_style(Theme theme) {
  const std::string shared =
      ".plot text{font:12px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif}"
      ".plot .title{font-weight:600;font-size:14px}";
  switch (theme) {
    case Theme::light:
      return shared + rules_of(light);
    case Theme::dark:
      return shared + rules_of(dark);
    case Theme::both:
      break;
  }
  return shared + rules_of(light) + "@media screen and (prefers-color-scheme:dark){" +
         rules_of(dark) + "}";
}

std::string svg_patterns() {
  // Lines over the tone, of another direction and distance each.
  constexpr std::array<const char*, tones> lines{
      "",       "M0 8L8 0",         "M0 0L8 8",     "M0 4H8",
      "M4 0V8", "M0 8L8 0M0 0L8 8", "M0 4H8M4 0V8", "M2 2H4M6 6H8"};
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i)
    text += fmt::format(
        "<pattern id=\"shade{0}\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">"
        "<rect class=\"s{0}\" width=\"8\" height=\"8\"/><path class=\"h{0}\" d=\"{1}\"/>"
        "</pattern>",
        i, lines[i]);
  return "<defs>" + text + "</defs>";
}

}  // namespace shardlab::results
