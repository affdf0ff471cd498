#include "results/plot_waterfall.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "results/show.h"

namespace shardlab::results {

Plot waterfall_plot(const std::string& title, const std::vector<Part>& parts, const Part& total,
                    bool predicted) {
  enum : int { kept = 0, lost = 1, gained = 2, whole = 7 };
  const char* mark = predicted ? "~" : "";
  Plot plot{.title = title};
  plot.twin.header = {"cause", "time", "of the total"};
  std::vector<std::string> names;
  std::vector<double> ends{0};
  const auto add = [&](const Part& part, double from, int tone) {
    const std::string time =
        mark + std::string(part.seconds < 0 ? "-" : "") + show_seconds(std::abs(part.seconds));
    const std::string share =
        total.seconds > 0 ? mark + show_percent(part.seconds / total.seconds) : "";
    const auto top = static_cast<double>(names.size());
    plot.boxes.push_back({.x0 = from,
                          .x1 = from + part.seconds,
                          .y0 = top + 0.15,
                          .y1 = top + 0.85,
                          .tone = tone,
                          .text = time,
                          .beside = true,
                          .note = fmt::format("{}: {}, {}", part.name, time, share)});
    plot.twin.rows.push_back({part.name, time, share});
    names.push_back(part.name);
    ends.push_back(from + part.seconds);
  };
  double at = 0;
  for (Part part : parts) {
    // What rounding leaves is nothing.
    if (std::abs(part.seconds) < 1e-9 * std::abs(total.seconds)) part.seconds = 0;
    add(part, at, part.seconds < 0 ? gained : names.empty() ? kept : lost);
    at += part.seconds;
  }
  add(total, 0, whole);
  for (const Key& key : {Key{"ideal", kept}, {"lost", lost}, {"gained", gained}, {"total", whole}})
    if (std::ranges::find(plot.boxes, key.tone, &Box::tone) != plot.boxes.end())
      plot.keys.push_back(key);
  plot.x = linear_axis("time of one step", Quantity::seconds, ends);
  plot.y = rows_axis(names);
  return plot;
}

}  // namespace shardlab::results
