#include "results/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "engine/core/check.h"
#include "engine/core/scenario.h"
#include "results/scaling.h"

namespace shardlab::results {
namespace {

// Older commits are left out: nobody looks for a cause so far back.
constexpr std::size_t most_points = 1000;

using ShortName = std::pair<std::string_view, std::string_view>;
constexpr std::array<ShortName, 3> short_names = {
    {{"step", "step_seconds"}, {"bytes", "bytes_sent"}, {"peak", "peak_bytes"}}};

std::vector<Metric> stored_metrics(const Reader& reader) {
  Statement get(reader.database(),
                "SELECT name, unit, exact, better, across_ranks FROM metric ORDER BY id");
  std::vector<Metric> metrics;
  while (get.step())
    metrics.push_back({get.text(0), get.text(1), get.integer(2) != 0, better_from(get.text(3)),
                       across_ranks_from(get.text(4))});
  return metrics;
}

EnvironmentKey environment_of(const Reader& reader, const std::string& hash) {
  Statement get(reader.database(), "SELECT fields FROM environment WHERE hash = ?");
  expect(get.bind(hash).step(), "no environment {}", hash);
  return environment_from(get.text(0));
}

std::string name_of(const RunInfo& run) {
  if (run.commit.empty() || run.commit == "unknown") return "run-" + run.uuid.substr(0, 8);
  return run.commit + (run.dirty ? "+" : "");
}

bool fits(const SeriesKey& series, const Fields& where) {
  const Fields fields = fields_of(series);
  return std::ranges::all_of(
      where, [&](const auto& wanted) { return std::ranges::find(fields, wanted) != fields.end(); });
}

// A word that no run has is a mistake, and told before anything is looked for.
void check_words(const std::vector<RunInfo>& runs, const Fields& where) {
  std::map<std::string, std::set<std::string>> known;
  for (const auto& [name, value] : fields_of(SeriesKey{})) known[name];
  for (const RunInfo& run : runs)
    for (const auto& [name, value] : fields_of(run.series)) known[name].insert(value);
  std::vector<std::string> names;
  for (const auto& [name, values] : known) names.push_back(name);
  for (const auto& [name, value] : where) {
    check(known.contains(name), "a series has no field '{}': did you mean '{}'?", name,
          nearest(name, names));
    const std::vector<std::string> values(known[name].begin(), known[name].end());
    check(values.empty() || known[name].contains(value), "no run with {} '{}': did you mean '{}'?",
          name, value, nearest(value, values));
  }
}

// The runs of one chart, each commit a point.
class Gathered {
 public:
  explicit Gathered(const Reader& reader) : reader_(reader) {}

  void add(const RunInfo& run, const std::string& metric) {
    const auto values = iteration_values(reader_, run.id, metric);
    if (values.empty()) return;
    const std::string name = name_of(run);
    auto point = std::ranges::find(points_, name, &HistoryPoint::commit);
    if (point == points_.end()) {
      point = points_.insert(points_.end(), {.commit = name, .created = run.created});
      medians_.emplace_back();
    }
    point->created = std::min(point->created, run.created);
    point->runs.push_back(run.id);
    point->samples += static_cast<std::int64_t>(values.size());
    medians_[static_cast<std::size_t>(point - points_.begin())].push_back(median(values));
  }

  // Runs came newest first.
  [[nodiscard]] std::vector<HistoryPoint> points(bool exact, std::vector<std::string>& notes) {
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const std::vector<double>& values = medians_[i];
      points_[i].value = exact ? values.front() : median(values);
      const std::set<double> different(values.begin(), values.end());
      if (exact && different.size() > 1)
        notes.push_back(fmt::format("{}: its {} runs have {} values; that of the newest is taken",
                                    points_[i].commit, values.size(), different.size()));
    }
    return std::move(points_);
  }

 private:
  const Reader& reader_;
  std::vector<HistoryPoint> points_;
  std::vector<std::vector<double>> medians_;
};

void sort_points(HistoryChart& chart, const std::vector<std::string>& order) {
  std::map<std::string, std::size_t, std::less<>> places;
  for (std::size_t i = 0; i < order.size(); ++i) places.emplace(order[i], i);
  const auto place_of = [&](const HistoryPoint& point) {
    std::string_view commit = point.commit;
    if (commit.ends_with('+')) commit.remove_suffix(1);
    auto place = places.lower_bound(commit);
    return place != places.end() && place->first.starts_with(commit) ? place : places.end();
  };
  const bool known = std::ranges::all_of(
      chart.points, [&](const HistoryPoint& point) { return place_of(point) != places.end(); });
  if (known && !order.empty()) {
    std::ranges::sort(chart.points, {}, [&](const HistoryPoint& point) {
      return std::pair(place_of(point)->second, point.commit.ends_with('+'));
    });
    return;
  }
  std::ranges::sort(chart.points, {}, [](const HistoryPoint& point) {
    return std::pair(point.created, point.commit);
  });
  if (!order.empty())
    chart.notes.emplace_back(
        "git does not know all of these commits: they are in order of their first runs");
}

}  // namespace

Metric find_metric(const Reader& reader, std::string_view word) {
  const auto metrics = stored_metrics(reader);
  const auto* short_name = std::ranges::find(short_names, word, &ShortName::first);
  const std::string_view name = short_name == short_names.end() ? word : short_name->second;
  std::vector<std::string> names;
  std::vector<const Metric*> begin_so;
  for (const Metric& metric : metrics) {
    if (metric.name == name) return metric;
    names.push_back(metric.name);
    if (metric.name.starts_with(name)) begin_so.push_back(&metric);
  }
  check(!names.empty(), "{}: no run in it has samples", reader.database().path());
  if (begin_so.size() == 1 && !word.empty()) return *begin_so[0];
  fail(Fault::invalid, "no metric '{}': did you mean '{}'?", word, nearest(word, names));
}

std::vector<HistoryChart> read_history(const Reader& reader, const HistoryQuestion& question) {
  Transaction transaction(reader.database(), Transaction::Kind::read);
  const Metric metric = find_metric(reader, question.metric);
  const auto runs = list_runs(reader);
  check_words(runs, question.where);
  struct Group {
    HistoryChart chart;
    Gathered gathered;
    std::int64_t oversubscribed = 0;
  };
  std::map<std::pair<std::string, std::string>, Group> groups;  // by series and environment
  for (const RunInfo& run : runs) {
    if (run.status != RunStatus::complete || run.series.execution == Execution::published ||
        !fits(run.series, question.where))
      continue;
    HistoryChart chart{.series = run.series, .metric = metric};
    const std::string environment = chart.is_exact() ? "" : run.environment;
    Group& group =
        groups.try_emplace({text_of(run.series), environment}, Group{chart, Gathered(reader)})
            .first->second;
    if (run.oversubscribed && metric.unit == "s")
      ++group.oversubscribed;
    else
      group.gathered.add(run, metric.name);
  }
  const auto marks = read_marks(reader, metric.name);
  std::vector<HistoryChart> charts;
  for (auto& [key, group] : groups) {
    HistoryChart& chart = group.chart;
    chart.points = group.gathered.points(chart.is_exact(), chart.notes);
    if (group.oversubscribed > 0)
      chart.notes.push_back(fmt::format(
          "{} runs had more ranks than cores: their times do not count", group.oversubscribed));
    if (chart.points.empty() && group.oversubscribed == 0) continue;
    sort_points(chart, question.order);
    if (chart.points.size() > most_points) {
      chart.notes.push_back(
          fmt::format("the newest {} of {} commits", most_points, chart.points.size()));
      chart.points.erase(chart.points.begin(), chart.points.end() - most_points);
    }
    if (!key.second.empty()) chart.environment = environment_of(reader, key.second);
    find_shifts(chart, marks, question.floor);
    charts.push_back(std::move(chart));
  }
  return charts;
}

}  // namespace shardlab::results
