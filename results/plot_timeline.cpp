#include "results/plot_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "results/series_text.h"
#include "results/show.h"

namespace shardlab::results {
namespace {

constexpr int parts = 300;  // of the step: what is narrower is folded
constexpr std::size_t most_ranks = 8;
constexpr int other = tones - 1;

struct Work {
  std::int64_t calls = 0;
  double seconds = 0;
};

/// Host first, then what computes, then what moves.
int place_of_lane(const std::string& lane) {
  return lane == "host" ? 0 : lane.starts_with("compute") ? 1 : 2;
}

using LaneKey = std::tuple<std::int32_t, int, std::string>;  // rank, place, lane

/// The tones of the operations that take longest; all others share one.
std::map<std::string, int> tones_of(const std::map<std::string, Work>& work) {
  std::vector<std::pair<double, std::string>> by_time;
  for (const auto& [op, its] : work) by_time.emplace_back(-its.seconds, op);
  std::ranges::sort(by_time);
  std::map<std::string, int> of;
  for (std::size_t i = 0; i < by_time.size(); ++i)
    of[by_time[i].second] = std::min(static_cast<int>(i), other);
  return of;
}

/// Steps that become one box.
struct Folded {
  double begin = 0;
  double end = 0;
  std::int64_t steps = 0;
  std::map<std::string, double> seconds = {};  ///< By operation.
};

std::vector<Folded> folded(std::vector<const Step*> steps, double narrow) {
  std::ranges::stable_sort(steps, {}, &Step::begin_seconds);
  std::vector<Folded> folds;
  for (const Step* step : steps) {
    const bool joins = !folds.empty() && step->end_seconds - folds.back().begin < narrow;
    if (!joins) folds.push_back({.begin = step->begin_seconds, .end = step->begin_seconds});
    Folded& fold = folds.back();
    fold.end = std::max(fold.end, step->end_seconds);
    fold.seconds[step->op] += step->end_seconds - step->begin_seconds;
    ++fold.steps;
  }
  return folds;
}

Box box_of(const Folded& fold, double zero, double row, const std::map<std::string, int>& tones_of,
           const char* mark) {
  const auto most =
      std::ranges::max_element(fold.seconds, {}, [](const auto& each) { return each.second; });
  Box box{.x0 = fold.begin - zero,
          .x1 = fold.end - zero,
          .y0 = row + 0.12,
          .y1 = row + 0.88,
          .tone = tones_of.at(most->first)};
  const std::string when = fmt::format("{}{} at {}{}", mark, show_seconds(fold.end - fold.begin),
                                       mark, show_seconds(fold.begin - zero));
  if (fold.steps == 1) {
    box.text = most->first;
    box.note = fmt::format("{}: {}", most->first, when);
  } else {
    box.note = fmt::format("{} steps, most of it {}: {}", fold.steps, most->first, when);
  }
  return box;
}

}  // namespace

std::optional<Plot> timeline_plot(const std::string& title, const StoredRun& run,
                                  const Timeline& timeline) {
  std::map<LaneKey, std::vector<const Step*>> lanes;
  std::set<std::int32_t> ranks;
  std::map<std::string, Work> work;
  double zero = 0;
  double end = 0;
  for (const Step& step : timeline.steps) {
    if (step.end_seconds <= step.begin_seconds) continue;
    if (ranks.size() == most_ranks && !ranks.contains(step.rank)) continue;
    zero = ranks.empty() ? step.begin_seconds : std::min(zero, step.begin_seconds);
    end = ranks.empty() ? step.end_seconds : std::max(end, step.end_seconds);
    ranks.insert(step.rank);
    lanes[{step.rank, place_of_lane(step.lane), step.lane}].push_back(&step);
    work[step.op].seconds += step.end_seconds - step.begin_seconds;
    ++work[step.op].calls;
  }
  if (ranks.empty()) return std::nullopt;
  const char* mark = mark_of(run.header.series);
  const std::map<std::string, int> tones_by_op = tones_of(work);
  Plot plot{.title = title};
  std::vector<std::string> names;
  std::int64_t hidden = 0;
  for (const auto& [lane, steps] : lanes) {
    const auto row = static_cast<double>(names.size());
    for (const Folded& fold : folded(steps, (end - zero) / parts)) {
      if (fold.steps > 1) hidden += fold.steps;
      plot.boxes.push_back(box_of(fold, zero, row, tones_by_op, mark));
    }
    names.push_back(fmt::format("rank {} {}", std::get<0>(lane), std::get<2>(lane)));
  }
  plot.x = linear_axis("time", Quantity::seconds, {0, end - zero});
  plot.y = rows_axis(names);
  plot.twin.header = {"operation", "calls", "time, all lanes", "of the step"};
  std::vector<std::pair<double, std::string>> by_time;
  for (const auto& [op, its] : work) by_time.emplace_back(-its.seconds, op);
  std::ranges::sort(by_time);
  for (const auto& [seconds, op] : by_time) {
    plot.twin.rows.push_back(
        {op, std::to_string(work[op].calls), mark + show_seconds(-seconds),
         mark + show_percent(-seconds / (end - zero) / static_cast<double>(ranks.size()))});
    if (tones_by_op.at(op) != other) plot.keys.push_back({op, tones_by_op.at(op)});
  }
  if (by_time.size() >= tones) plot.keys.push_back({"other", other});
  if (hidden > 0)
    plot.notes.push_back(
        fmt::format("{} steps narrower than {}{} are folded with their neighbours.", hidden, mark,
                    show_seconds((end - zero) / parts)));
  std::set<std::int32_t> all;
  for (const Step& step : timeline.steps) all.insert(step.rank);
  if (all.size() > ranks.size())
    plot.notes.push_back(fmt::format("The first {} of {} ranks.", ranks.size(), all.size()));
  for (const Fold& fold : run.rows.folds)
    if (fold.ranks > 1 && ranks.contains(fold.rank))
      plot.notes.push_back(fmt::format("Rank {} stands for {} ranks.", fold.rank, fold.ranks));
  return plot;
}

}  // namespace shardlab::results
