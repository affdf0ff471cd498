#include "results/plot_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "results/series_text.h"
#include "results/show.h"

namespace shardlab::results {
namespace {

constexpr std::size_t most_bars = 24;

std::vector<std::string> categories_of(const std::vector<MemoryRow>& rows) {
  std::vector<std::string> names;
  for (const MemoryRow& row : rows)
    for (const auto& [name, bytes] : row.bytes)
      if (bytes > 0 && std::ranges::find(names, name) == names.end()) names.push_back(name);
  std::ranges::sort(names);
  return names;
}

double bytes_of(const MemoryRow& row, const std::string& category) {
  for (const auto& [name, bytes] : row.bytes)
    if (name == category) return bytes;
  return 0;
}

}  // namespace

std::vector<MemoryRow> memory_of(const Reader& reader, const Problem& problem) {
  const std::string prefix = peak_bytes("").name;
  std::vector<MemoryRow> rows;
  for (const Curve* curve : problem.curves)
    for (const CurveRow& row : curve->rows) {
      if (row.run.value <= 0 || !row.peak_bytes) continue;
      MemoryRow memory{.name = fmt::format("{} {}", name_of(problem, *curve), row.mesh),
                       .bytes = {},
                       .peak = row.peak_bytes};
      for (const Metric& metric : metrics_of(reader, row.run))
        if (metric.name.starts_with(prefix))
          if (const auto summary = summarize(reader, row.run, metric.name))
            memory.bytes.emplace_back(metric.name.substr(prefix.size()), summary->median);
      if (!memory.bytes.empty()) rows.push_back(std::move(memory));
    }
  return rows;
}

std::optional<Plot> memory_plot(const std::string& title, const std::vector<MemoryRow>& rows) {
  const std::vector<std::string> categories = categories_of(rows);
  if (categories.empty()) return std::nullopt;
  Plot plot{.title = title};
  std::vector<std::string> names;
  std::vector<double> sums;
  Trail peaks{.name = "peak without library",
              .tone = -1,
              .marker = Marker::cross,
              .dash = Dash::none,
              .marks = {}};
  plot.twin.header = {"run"};
  for (const std::string& category : categories) plot.twin.header.push_back(category);
  plot.twin.header.emplace_back("peak without library");
  for (const MemoryRow& row : rows) {
    std::vector<std::string> cells{row.name};
    for (const std::string& category : categories)
      cells.push_back(show_bytes(bytes_of(row, category)));
    cells.push_back(row.peak ? show_bytes(*row.peak) : "");
    plot.twin.rows.push_back(std::move(cells));
    if (names.size() == most_bars) continue;
    const auto top = static_cast<double>(names.size());
    double sum = 0;
    for (std::size_t c = 0; c < categories.size(); ++c) {
      const double bytes = bytes_of(row, categories[c]);
      if (bytes <= 0) continue;
      plot.boxes.push_back(
          {.x0 = sum,
           .x1 = sum + bytes,
           .y0 = top + 0.15,
           .y1 = top + 0.85,
           .tone = static_cast<int>(c),
           .text = categories[c],
           .note = fmt::format("{}, {}: {}", row.name, categories[c], show_bytes(bytes))});
      sum += bytes;
    }
    sums.push_back(sum);
    if (row.peak) {
      sums.push_back(*row.peak);
      peaks.marks.push_back({.x = *row.peak,
                             .y = top + 0.5,
                             .note = fmt::format("{}, peak: {}", row.name, show_bytes(*row.peak))});
    }
    names.push_back(row.name);
  }
  for (std::size_t c = 0; c < categories.size(); ++c)
    plot.keys.push_back({categories[c], static_cast<int>(c)});
  plot.x = linear_axis("peak of the rank with most", Quantity::bytes, sums);
  plot.y = rows_axis(names);
  if (!peaks.marks.empty()) plot.trails.push_back(std::move(peaks));
  plot.notes.push_back(
      "Categories peak at different moments and on different ranks: together they may be more than "
      "the peak of all, the cross.");
  if (rows.size() > most_bars)
    plot.notes.push_back(fmt::format("{} more runs are in the table.", rows.size() - most_bars));
  return plot;
}

}  // namespace shardlab::results
