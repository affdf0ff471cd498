#include "results/plot_scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "results/series_text.h"
#include "results/show.h"

namespace shardlab::results {
namespace {

/// The axes of a mesh that divide something: `data=2,domain=1` gives `data`.
std::string axes_of(const std::string& mesh) {
  std::string axes;
  for (std::size_t begin = 0; begin < mesh.size();) {
    const std::size_t end = std::min(mesh.find(',', begin), mesh.size());
    const std::string each = mesh.substr(begin, end - begin);
    const std::size_t equals = each.find('=');
    if (equals != std::string::npos && each.substr(equals) != "=1")
      axes += (axes.empty() ? "" : " x ") + each.substr(0, equals);
    begin = end + 1;
  }
  return axes;
}

bool is_timed(const CurveRow& row) { return row.seconds && row.seconds->median > 0; }

/// Rows of a curve that one line may join: meshes of the same axes, and one rank.
struct Strand {
  const Curve* curve = nullptr;
  std::string name;
  std::vector<const CurveRow*> rows = {};  ///< Also those without a time.
};

std::vector<Strand> strands_of(const Problem& problem) {
  std::vector<Strand> strands;
  for (const Curve* curve : problem.curves) {
    std::vector<std::string> kinds;
    for (const CurveRow& row : curve->rows)
      if (const std::string axes = axes_of(row.mesh);
          !axes.empty() && std::ranges::find(kinds, axes) == kinds.end())
        kinds.push_back(axes);
    if (kinds.empty()) kinds.emplace_back();
    for (const std::string& kind : kinds) {
      Strand strand{.curve = curve, .name = name_of(problem, *curve)};
      if (kinds.size() > 1) strand.name += ", " + kind;
      for (const CurveRow& row : curve->rows)
        if (const std::string axes = axes_of(row.mesh); axes.empty() || axes == kind)
          strand.rows.push_back(&row);
      strands.push_back(std::move(strand));
    }
  }
  return strands;
}

void dress(Trail& trail, const SeriesKey& series, int tone) {
  trail.tone = tone;
  trail.marker = series.execution == Execution::predict     ? Marker::square
                 : series.execution == Execution::published ? Marker::circle
                                                            : Marker::disc;
  trail.dash = series.execution == Execution::predict     ? Dash::dashed
               : series.execution == Execution::published ? Dash::none
                                                          : Dash::solid;
}

/// Faster than ranks times one rank, the interval as a whole.
bool beats_ideal(const CurveRow& row) {
  if (!row.efficiency || row.ranks == 1) return false;
  const double worst =
      row.seconds->interval ? row.seconds->median / row.seconds->interval->high : 1;
  return *row.efficiency * worst > 1;
}

std::string note_of(const Strand& strand, const CurveRow& row) {
  const char* mark = mark_of(strand.curve->series);
  std::string note =
      fmt::format("{}, {}: {}{}", strand.name, row.mesh, mark, show_seconds(row.seconds->median));
  if (row.seconds->interval)
    note += fmt::format(", {}{}", mark,
                        show_range(row.seconds->interval->low, row.seconds->interval->high));
  if (row.efficiency) note += fmt::format(", efficiency {}{}", mark, show_percent(*row.efficiency));
  if (row.oversubscribed) note += ", oversubscribed";
  return note;
}

/// Points of a strand; lines break where a number of ranks of the problem has no time.
Trail trail_of(const Strand& strand, int tone, const std::set<std::int64_t>& all_ranks,
               bool oversubscribed) {
  Trail trail{.name = strand.name};
  dress(trail, strand.curve->series, tone);
  if (oversubscribed) {
    trail.name += ", oversubscribed";
    trail.marker = Marker::cross;
    trail.dash = Dash::none;
  }
  std::int64_t last = 0;
  for (const CurveRow* row : strand.rows) {
    if (!is_timed(*row) || row->oversubscribed != oversubscribed) continue;
    const auto next = all_ranks.upper_bound(last);
    const bool gap = last != 0 && next != all_ranks.end() && *next < row->ranks;
    trail.marks.push_back({.x = static_cast<double>(row->ranks),
                           .y = row->seconds->median,
                           .interval = row->seconds->interval,
                           .joined = !gap,
                           .flagged = beats_ideal(*row),
                           .note = note_of(strand, *row)});
    last = row->ranks;
  }
  return trail;
}

/// From the fewest ranks on: time by ranks, or the same time in weak scaling.
Trail ideal_of(const Trail& trail, double most_ranks, bool weak) {
  const PlotPoint& base = trail.marks.front();
  Trail ideal{.tone = trail.tone, .marker = Marker::none, .dash = Dash::dotted};
  ideal.marks.push_back({.x = base.x, .y = base.y});
  ideal.marks.push_back({.x = most_ranks, .y = weak ? base.y : base.y * base.x / most_ranks});
  return ideal;
}

Twin twin_of(const Problem& problem) {
  Twin twin{{"curve", "mesh", "run", "step", "interval", "speedup", "efficiency", "peak",
             "received", "checks", "remarks"},
            {}};
  for (const Curve* curve : problem.curves)
    for (const CurveRow& row : curve->rows) {
      const char* mark = mark_of(curve->series);
      const bool compares = row.speedup && !row.oversubscribed;
      std::string remarks = row.oversubscribed ? "oversubscribed" : "";
      if (beats_ideal(row)) remarks += "better than ideal";
      if (row.status != RunStatus::complete)
        remarks = fmt::format("{}: {}", name_of(row.status), row.reason);
      std::string checks;
      if (row.checks.passed + row.checks.failed > 0)
        checks = row.checks.failed > 0 ? fmt::format("{} failed", row.checks.failed)
                                       : fmt::format("{} ok", row.checks.passed);
      const bool ranged = row.seconds && row.seconds->interval;
      twin.rows.push_back(
          {name_of(problem, *curve), row.mesh,
           row.run.value > 0 ? std::to_string(row.run.value) : "",
           row.seconds ? mark + show_seconds(row.seconds->median) : "",
           ranged ? mark + show_range(row.seconds->interval->low, row.seconds->interval->high) : "",
           compares ? fmt::format("{}{:.2f}x", mark, *row.speedup) : "",
           row.efficiency ? mark + show_percent(*row.efficiency) : "",
           row.peak_bytes ? show_bytes(*row.peak_bytes) : "",
           row.bytes_sent ? show_bytes(*row.bytes_sent) : "", checks, remarks});
    }
  return twin;
}

std::set<std::int64_t> ranks_of(const Problem& problem) {
  std::set<std::int64_t> ranks;
  for (const Curve* curve : problem.curves)
    for (const CurveRow& row : curve->rows) ranks.insert(row.ranks);
  return ranks;
}

/// Of problems of equal scenario, dtype and mode those parameters are named that differ.
void give_titles(std::vector<Problem>& problems) {
  struct Alike {
    std::vector<std::pair<Problem*, std::map<std::string, std::string>>> members;
    std::map<std::string, std::set<std::string>> values;
  };
  std::map<std::string, Alike> groups;
  for (Problem& problem : problems) {
    problem.title = fmt::format("{}, {}, {}", problem.series.scenario, problem.series.dtype,
                                mode_of(problem.series));
    Alike& alike = groups[problem.title];
    alike.members.emplace_back(&problem, parameter_values(problem.series));
    for (const auto& [name, value] : alike.members.back().second) alike.values[name].insert(value);
  }
  for (auto& [title, alike] : groups)
    for (const auto& [problem, parameters] : alike.members)
      for (const auto& [name, value] : parameters)
        if (alike.values[name].size() > 1) problem->title += fmt::format(", {} {}", name, value);
}

/// How wide an interval may be drawn without the points of the plot becoming one.
std::vector<double> extent_of(const std::vector<Trail>& trails) {
  std::vector<double> values;
  for (const Trail& trail : trails)
    for (const PlotPoint& mark : trail.marks) {
      values.push_back(mark.y);
      if (!mark.interval) continue;
      values.push_back(std::max(mark.interval->low, mark.y / 10));
      values.push_back(std::min(mark.interval->high, mark.y * 10));
    }
  return values;
}

/// Room for ideal lines, as far as the points keep half of the height.
void add_ideals(std::vector<double>& extent, const std::vector<Trail>& ideals) {
  const auto [least, most] = std::ranges::minmax(extent);
  const double floor = least * std::min(least / most, 0.25);
  for (const Trail& ideal : ideals) extent.push_back(std::max(ideal.marks.back().y, floor));
}

/// Ends a line of constant ranks times seconds where it leaves the axis: clipped it would bend.
void end_inside(Trail& ideal, double low) {
  PlotPoint& end = ideal.marks.back();
  if (end.y >= low) return;
  end.x *= end.y / low;
  end.y = low;
}

}  // namespace

std::vector<Problem> problems_of(const std::vector<Curve>& curves) {
  std::vector<Problem> problems;
  for (const Curve& curve : curves) {
    if (is_probe(curve.series)) continue;
    auto problem = std::ranges::find_if(
        problems, [&](const Problem& each) { return same_problem(each.series, curve.series); });
    if (problem == problems.end())
      problem =
          problems.insert(problems.end(), {.series = curve.series, .title = {}, .curves = {}});
    problem->curves.push_back(&curve);
  }
  for (Problem& problem : problems)
    std::ranges::stable_sort(problem.curves, {}, [](const Curve* curve) {
      return curve->series.execution == Execution::predict     ? 1
             : curve->series.execution == Execution::published ? 2
                                                               : 0;
    });
  give_titles(problems);
  return problems;
}

std::string name_of(const Problem& problem, const Curve& curve) {
  std::string name = place_of(curve.series);
  bool other_profile = false;
  bool other_environment = false;
  for (const Curve* each : problem.curves) {
    if (place_of(each->series) != place_of(curve.series)) continue;
    other_profile = other_profile || each->series.profile != curve.series.profile;
    other_environment = other_environment || each->environment != curve.environment;
  }
  if (other_profile) name += ", " + curve.series.profile;
  if (other_environment) name += ", environment " + curve.environment.substr(0, 6);
  return name;
}

std::optional<Plot> scaling_plot(const Problem& problem) {
  const std::set<std::int64_t> ranks = ranks_of(problem);
  const bool weak = is_weak(problem.series);
  Plot plot;
  std::vector<Trail> ideals;
  int tone = 0;
  for (const Strand& strand : strands_of(problem)) {
    for (const bool oversubscribed : {false, true}) {
      Trail trail = trail_of(strand, tone, ranks, oversubscribed);
      if (trail.marks.empty()) continue;
      const double most = trail.marks.back().x;
      if (!oversubscribed && trail.marks.front().x < most)
        ideals.push_back(ideal_of(trail, most, weak));
      plot.trails.push_back(std::move(trail));
    }
    ++tone;
  }
  if (plot.trails.empty()) return std::nullopt;
  plot.title = "Step time over ranks: " + problem.title;
  plot.x = ranks_axis({ranks.begin(), ranks.end()});
  std::vector<double> extent = extent_of(plot.trails);
  add_ideals(extent, ideals);
  plot.y = logarithmic_axis("step time", Quantity::seconds, extent);
  for (Trail& ideal : ideals) end_inside(ideal, plot.y.low);
  if (!ideals.empty()) {
    ideals.front().name = weak ? "ideal: the time of the fewest ranks" : "ideal: time by ranks";
    plot.trails.insert(plot.trails.begin(), ideals.begin(), ideals.end());
  }
  plot.notes.push_back(
      "Dotted lines start at the fewest ranks of each curve. Bars are intervals; ~ is predicted.");
  plot.twin = twin_of(problem);
  return plot;
}

std::optional<Plot> efficiency_plot(const Problem& problem) {
  const std::set<std::int64_t> ranks = ranks_of(problem);
  Plot plot;
  std::vector<double> values{0, 1};
  int tone = 0;
  for (const Strand& strand : strands_of(problem)) {
    Trail trail = trail_of(strand, tone++, ranks, false);
    std::vector<PlotPoint> marks;
    for (const CurveRow* row : strand.rows) {
      if (!row->efficiency) continue;
      const auto seconds = std::ranges::find(trail.marks, row->seconds->median, &PlotPoint::y);
      if (seconds == trail.marks.end()) continue;
      PlotPoint mark = *seconds;
      mark.y = *row->efficiency;
      if (mark.interval)
        mark.interval = Interval{
            mark.y * row->seconds->median / mark.interval->high,
            mark.interval->low > 0 ? mark.y * row->seconds->median / mark.interval->low : mark.y};
      if (row->ranks == 1) mark.interval.reset();
      values.push_back(mark.y);
      marks.push_back(mark);
    }
    trail.marks = std::move(marks);
    if (trail.marks.size() > 1) plot.trails.push_back(std::move(trail));
  }
  if (plot.trails.empty()) return std::nullopt;
  plot.title = "Efficiency over ranks: " + problem.title;
  plot.x = ranks_axis({ranks.begin(), ranks.end()});
  plot.y = linear_axis("efficiency", Quantity::percent, values);
  Trail ideal{.name = "ideal", .tone = -1, .marker = Marker::none, .dash = Dash::dotted};
  ideal.marks = {{.x = plot.x.low, .y = 1}, {.x = plot.x.high, .y = 1}};
  plot.trails.insert(plot.trails.begin(), std::move(ideal));
  plot.notes.push_back(is_weak(problem.series)
                           ? "Time of one rank by the time of N. Bars are those of the times."
                           : "Time of one rank by N times that of N. Bars are those of the times.");
  return plot;
}

}  // namespace shardlab::results
