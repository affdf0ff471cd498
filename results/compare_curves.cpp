#include "results/compare_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "results/curve_fit.h"
#include "results/scaling.h"

namespace shardlab::results {
namespace {

constexpr std::size_t least_sizes = 4;

/// The samples of one size on both sides.
struct Size {
  Samples samples;
  Comparable runs;
};

using Sizes = std::map<double, Size>;  // by ranks

bool is_shared(const SeriesPair& pair) {
  return pair.base != nullptr && pair.next != nullptr && !pair.base->runs.empty() &&
         !pair.next->runs.empty();
}

bool is_oversubscribed(const Comparable& runs) {
  return std::ranges::any_of(runs.base, &RunInfo::oversubscribed) ||
         std::ranges::any_of(runs.next, &RunInfo::oversubscribed);
}

bool all_positive(const std::vector<double>& values) {
  return !values.empty() && std::ranges::all_of(values, [](double v) { return v > 0; });
}

/// Times of a series on both sides, if they can be held against each other.
std::optional<Size> size_of(const SeriesPair& pair, const Sides& sides) {
  Comparable runs = comparable_runs(pair, sides);
  if (!is_measured(pair.next->series) && runs.base.empty())
    runs = {{pair.base->runs.front()}, {pair.next->runs.front()}, {}};
  if (runs.base.empty() || is_oversubscribed(runs)) return std::nullopt;
  Samples samples = samples_of(runs, sides, step_seconds().name);
  if (!all_positive(samples.base) || !all_positive(samples.next)) return std::nullopt;
  return Size{std::move(samples), std::move(runs)};
}

Evidence evidence_of(const Sizes& sizes, bool base, double value) {
  Evidence evidence{.samples = static_cast<std::int64_t>(sizes.size()), .median = value};
  for (const auto& [ranks, size] : sizes)
    for (const RunInfo& run : base ? size.runs.base : size.runs.next) {
      evidence.runs.push_back(run.uuid);
      evidence.commit = run.commit;
    }
  return evidence;
}

Taken weakest(const Sizes& sizes) {
  Taken taken = Taken::pairs;
  for (const auto& [ranks, size] : sizes) taken = std::max(taken, size.samples.taken);
  return taken;
}

Pending pending_of(Finding finding, const Sizes& sizes, const Ratio& ratio, double p) {
  finding.ratio = ratio.value;
  finding.ratio_interval = ratio.interval;
  const auto count = static_cast<std::int64_t>(sizes.size());
  // Numbers that are not sampled differ or do not: chance has no part in it.
  const bool sampled = is_measured(finding.series);
  return {finding, Change{finding.base->median, finding.next->median, count, count, ratio,
                          sampled ? p : 0, 0, sampled ? weakest(sizes) : Taken::pairs}};
}

std::vector<Pending> of_curve(const SeriesKey& series, const Sizes& sizes, const Sides& sides) {
  const double most = sizes.rbegin()->first;
  Finding serial{.subject = Subject::curve,
                 .series = series,
                 .metric = {.name = "serial_fraction", .unit = "1"}};
  if (sizes.size() < least_sizes) {
    serial.verdict = Verdict::not_enough;
    serial.reason =
        fmt::format("{} sizes on both sides; a curve needs {}", sizes.size(), least_sizes);
    return {{serial, {}}};
  }
  std::vector<CurvePoint> base, next;
  for (const auto& [ranks, size] : sizes) {
    base.push_back({ranks, size.samples.base});
    next.push_back({ranks, size.samples.next});
  }
  const CurveChange change =
      curve_change_of(base, next, is_weak(series), {.seed = sides.options.seed});
  serial.base = evidence_of(sizes, true, change.base.serial);
  serial.base->interval = change.base_serial;
  serial.next = evidence_of(sizes, false, change.next.serial);
  serial.next->interval = change.next_serial;
  Finding efficiency{
      .subject = Subject::curve,
      .series = series,
      .metric = {fmt::format("efficiency_at_{:.0f}", most), "1", false, Better::higher}};
  efficiency.base = evidence_of(sizes, true, change.base_efficiency);
  efficiency.next = evidence_of(sizes, false, change.next_efficiency);
  return {pending_of(serial, sizes, change.relative, change.relative_p),
          pending_of(efficiency, sizes, change.efficiency, change.efficiency_p)};
}

/// The axis of a mesh of one axis, and its ranks.
std::optional<std::pair<std::string, double>> only_axis(const std::string& mesh) {
  if (mesh.find(',') != std::string::npos) return std::nullopt;
  return std::pair{mesh.substr(0, mesh.find('=')), static_cast<double>(ranks_of(mesh))};
}

}  // namespace

std::vector<Pending> compare_curves(const std::vector<SeriesPair>& pairs, const Sides& sides) {
  std::map<std::string, std::map<double, const SeriesPair*>> curves;
  for (const SeriesPair& pair : pairs) {
    if (!is_shared(pair)) continue;
    const auto axis = only_axis(pair.next->series.mesh);
    if (axis && ranks_of(pair.base->series.mesh) == ranks_of(pair.next->series.mesh))
      curves[text_of(without_mesh(pair.next->series)) + axis->first].emplace(axis->second, &pair);
  }
  std::vector<Pending> all;
  for (const auto& [name, members] : curves) {
    if (members.size() < 2) continue;
    Sizes sizes;
    for (const auto& [ranks, pair] : members)
      if (auto size = size_of(*pair, sides)) sizes.emplace(ranks, std::move(*size));
    if (sizes.size() < 2) continue;
    const SeriesKey series = without_mesh(members.begin()->second->next->series);
    for (Pending& pending : of_curve(series, sizes, sides)) all.push_back(std::move(pending));
  }
  return all;
}

std::vector<Pending> compare_drift(const std::vector<SeriesPair>& pairs, const Sides& sides) {
  std::vector<Pending> all;
  for (const SeriesPair& pair : pairs) {
    if (!is_shared(pair) || !is_measured(pair.next->series)) continue;
    for (const SeriesPair& other : pairs) {
      if (!is_shared(other) || other.next->series.execution != Execution::predict ||
          other.next->series.mesh != pair.next->series.mesh ||
          !same_problem(other.next->series, pair.next->series))
        continue;
      const auto measured = size_of(pair, sides), predicted = size_of(other, sides);
      if (!measured || !predicted || measured->samples.base.size() < 2 ||
          measured->samples.next.size() < 2)
        continue;
      const double base = median(predicted->samples.base), next = median(predicted->samples.next);
      Change change = change_of(measured->samples, sides.options.seed);
      for (double* part :
           {&change.ratio.value, &change.ratio.interval.low, &change.ratio.interval.high})
        *part *= base / next;
      change.base /= base;
      change.next /= next;
      Finding finding{.subject = Subject::drift,
                      .series = pair.next->series,
                      .metric = {"measured_over_predicted on " + other.next->series.machine, "1"}};
      const Sizes one{{1, *measured}};
      finding.base = evidence_of(one, true, change.base);
      finding.next = evidence_of(one, false, change.next);
      finding.ratio = change.ratio.value;
      finding.ratio_interval = change.ratio.interval;
      all.push_back({finding, change});
    }
  }
  return all;
}

}  // namespace shardlab::results
