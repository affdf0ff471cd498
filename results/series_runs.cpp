#include "results/series_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace shardlab::results {
namespace {

bool is_same_code(const RunInfo& a, const RunInfo& b) {
  return a.commit == b.commit && a.dirty == b.dirty;
}

std::string key_without(const SeriesKey& series, const std::vector<std::string>& allowed) {
  std::string key;
  for (const auto& [name, value] : fields_of(series))
    if (std::ranges::find(allowed, name) == allowed.end())
      key += fmt::format("{}:{}={};", name, value.size(), value);
  return key;
}

/// Positions of the series that are not joined yet, by what is left of their keys.
std::map<std::string, std::vector<std::size_t>> left_over(const std::vector<SeriesRuns>& side,
                                                          const std::vector<bool>& joined,
                                                          const std::vector<std::string>& allowed) {
  std::map<std::string, std::vector<std::size_t>> left;
  for (std::size_t i = 0; i < side.size(); ++i)
    if (!joined[i]) left[key_without(side[i].series, allowed)].push_back(i);
  return left;
}

}  // namespace

std::vector<SeriesRuns> series_of(const Side& side, std::vector<std::string>& notes) {
  std::vector<SeriesRuns> all;
  std::map<std::string, std::size_t> places;
  std::map<std::string, RunInfo> newest;  // of each series and environment
  std::size_t older = 0, running = 0;
  for (const RunInfo& run : side.runs) {
    if (run.status == RunStatus::running || run.status == RunStatus::interrupted) {
      ++running;
      continue;
    }
    const std::string key = text_of(run.series);
    const auto [place, is_new] = places.try_emplace(key, all.size());
    if (is_new) all.push_back({.series = run.series});
    SeriesRuns& series = all[place->second];
    if (run.status != RunStatus::complete) {
      if (!series.ended_bad) series.ended_bad = run;
      continue;
    }
    if (is_same_code(newest.try_emplace(run.environment + key, run).first->second, run))
      series.runs.push_back(run);
    else
      ++older;
  }
  for (SeriesRuns& series : all)
    if (!series.runs.empty()) series.ended_bad.reset();
  if (older > 0)
    notes.push_back(fmt::format("{}: {} runs of older commits are left out", side.title, older));
  if (running > 0)
    notes.push_back(
        fmt::format("{}: {} runs that have not ended are left out", side.title, running));
  return all;
}

std::vector<SeriesPair> join(const std::vector<SeriesRuns>& base,
                             const std::vector<SeriesRuns>& next,
                             const std::vector<std::string>& allowed) {
  std::vector<bool> base_joined(base.size()), next_joined(next.size());
  std::vector<SeriesPair> pairs;
  const auto join_by = [&](const std::vector<std::string>& without) {
    const auto right = left_over(next, next_joined, without);
    for (const auto& [key, places] : left_over(base, base_joined, without)) {
      const auto other = right.find(key);
      if (other == right.end() || places.size() != 1 || other->second.size() != 1) continue;
      const std::size_t b = places.front(), n = other->second.front();
      base_joined[b] = next_joined[n] = true;
      pairs.push_back({&base[b], &next[n]});
    }
  };
  join_by({});
  if (!allowed.empty()) join_by(allowed);
  for (std::size_t i = 0; i < base.size(); ++i)
    if (!base_joined[i]) pairs.push_back({&base[i], nullptr});
  for (std::size_t i = 0; i < next.size(); ++i)
    if (!next_joined[i]) pairs.push_back({nullptr, &next[i]});
  return pairs;
}

std::string short_name(const SeriesKey& series) {
  return fmt::format("{} {}, {}{}{}", series.scenario, series.mesh, series.dtype,
                     series.train ? ", training" : "", is_weak(series) ? ", weak" : "");
}

std::vector<std::string> differences_but(const Fields& a, const Fields& b,
                                         const std::vector<std::string>& allowed) {
  std::vector<std::string> differing = differences(a, b);
  std::erase_if(differing, [&](const std::string& name) {
    return std::ranges::find(allowed, name) != allowed.end();
  });
  return differing;
}

}  // namespace shardlab::results
