#include "results/compare_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "results/sample_shape.h"
#include "results/scaling.h"
#include "results/show.h"
#include "results/time_causes.h"

namespace shardlab::results {
namespace {

std::vector<std::vector<double>> values_of(const std::vector<RunInfo>& runs, const Reader& reader,
                                           std::string_view metric) {
  std::vector<std::vector<double>> all;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    auto values = iteration_values(reader, run->id, metric);
    if (!values.empty()) all.push_back(std::move(values));
  }
  return all;
}

std::vector<double> medians(const std::vector<std::vector<double>>& runs) {
  std::vector<double> all;
  for (const auto& values : runs) all.push_back(median(values));
  return all;
}

std::vector<double> joined(const std::vector<std::vector<double>>& runs) {
  std::vector<double> all;
  for (const auto& values : runs) all.insert(all.end(), values.begin(), values.end());
  return all;
}

Evidence evidence_of(const std::vector<RunInfo>& runs, const std::vector<double>& values) {
  Evidence evidence{.samples = static_cast<std::int64_t>(values.size())};
  for (const RunInfo& run : runs) evidence.runs.push_back(run.uuid);
  if (!runs.empty()) evidence.commit = runs.front().commit;
  if (!values.empty()) evidence.median = median(values);
  if (values.size() > 1) evidence.interval = bootstrap_median(values);
  return evidence;
}

bool all_positive(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double value) { return value > 0; });
}

bool all_equal(const std::vector<double>& values) {
  return std::ranges::adjacent_find(values, std::not_equal_to<>()) == values.end();
}

class SeriesComparer {
 public:
  SeriesComparer(const SeriesPair& pair, const Sides& sides, std::vector<std::string>& notes)
      : pair_(pair), sides_(sides), notes_(notes), runs_(comparable_runs(pair, sides)) {}

  std::vector<Pending> findings() {
    const auto base = metrics_of(*sides_.base.reader, pair_.base->runs.front().id);
    const auto next = metrics_of(*sides_.next.reader, pair_.next->runs.front().id);
    std::vector<Pending> all;
    for (const Metric& metric : base) {
      const auto same = std::ranges::find(next, metric.name, &Metric::name);
      if (same == next.end())
        all.push_back(one_sided(metric, Verdict::vanished));
      else if (auto found = compare(metric))
        all.push_back(*found);
    }
    for (const Metric& metric : next)
      if (std::ranges::find(base, metric.name, &Metric::name) == base.end())
        all.push_back(one_sided(metric, Verdict::added));
    return all;
  }

 private:
  Finding finding_of(const Metric& metric) const {
    return {.series = pair_.next->series, .metric = metric};
  }

  Pending one_sided(const Metric& metric, Verdict verdict) const {
    Finding finding = finding_of(metric);
    const bool in_base = verdict == Verdict::vanished;
    const Side& side = in_base ? sides_.base : sides_.next;
    const RunInfo& run = (in_base ? pair_.base : pair_.next)->runs.front();
    finding.verdict = verdict;
    finding.reason =
        in_base ? "the new side has no samples of it" : "the base has no samples of it";
    (in_base ? finding.base : finding.next) =
        evidence_of({run}, iteration_values(*side.reader, run.id, metric.name));
    return {finding, {}};
  }

  std::optional<Pending> compare(const Metric& metric) {
    if (metric.exact) return exact(metric);
    if (!is_measured(pair_.next->series)) return computed(metric);
    if (metric.name == loss().name) return losses(metric);
    if (metric.unit == "s" && is_oversubscribed()) {
      notes_.push_back(fmt::format("{}: more ranks than cores, so its times are not compared",
                                   short_name(pair_.next->series)));
      return std::nullopt;
    }
    if (!runs_.differing.empty()) return other_environment(metric);
    return measured(metric);
  }

  bool is_oversubscribed() const {
    return std::ranges::any_of(runs_.base, &RunInfo::oversubscribed) ||
           std::ranges::any_of(runs_.next, &RunInfo::oversubscribed) ||
           pair_.base->runs.front().oversubscribed || pair_.next->runs.front().oversubscribed;
  }

  /// The newest run of each side alone.
  Finding of_newest(const Metric& metric) const {
    Finding finding = finding_of(metric);
    const RunInfo& base = pair_.base->runs.front();
    const RunInfo& next = pair_.next->runs.front();
    finding.base = evidence_of({base}, iteration_values(*sides_.base.reader, base.id, metric.name));
    finding.next = evidence_of({next}, iteration_values(*sides_.next.reader, next.id, metric.name));
    if (finding.base->median > 0) finding.ratio = finding.next->median / finding.base->median;
    return finding;
  }

  void explain(Finding& finding) const {
    if (finding.verdict != Verdict::worse && finding.verdict != Verdict::better) return;
    const Profile base = profile_of(*sides_.base.reader, pair_.base->runs.front().id);
    const Profile next = profile_of(*sides_.next.reader, pair_.next->runs.front().id);
    const bool more = finding.next->median > finding.base->median;
    finding.causes = finding.metric == step_seconds()
                         ? time_causes(more, {base}, {next}, Timelines::computed)
                         : causes_of(finding.metric, more, base, next);
  }

  Pending exact(const Metric& metric) const {
    Finding finding = of_newest(metric);
    const double change = finding.next->median - finding.base->median;
    const bool more = change > 0;
    if (change == 0) {
      finding.verdict = Verdict::same;
      finding.reason = "equal";
    } else {
      finding.verdict =
          more == (metric.better != Better::higher) ? Verdict::worse : Verdict::better;
      finding.reason =
          fmt::format("{:.15g}{} {}", std::abs(change), metric.unit == "1" ? "" : " " + metric.unit,
                      more ? "more" : "less");
    }
    explain(finding);
    return {finding, {}};
  }

  Pending computed(const Metric& metric) const {
    Finding finding = of_newest(metric);
    finding.verdict = Verdict::same;
    finding.reason = "equal numbers, which are not sampled";
    const double ratio = finding.ratio.value_or(1);
    const double edge = 1 + sides_.options.floor;
    if (ratio > edge || ratio < 1 / edge) {
      finding.verdict =
          (ratio > 1) == (metric.better != Better::higher) ? Verdict::worse : Verdict::better;
      finding.reason = fmt::format("{:.2g} % {}, computed or published and not sampled",
                                   100 * std::abs(ratio - 1), word_for(metric, ratio > 1));
    } else if (ratio != 1) {
      finding.reason = fmt::format("within {:.3g} %", 100 * sides_.options.floor);
    }
    explain(finding);
    return {finding, {}};
  }

  /// Values of steps of one training are no repetitions of each other.
  Pending losses(const Metric& metric) const {
    Finding finding = of_newest(metric);
    finding.ratio.reset();
    const auto base =
        iteration_values(*sides_.base.reader, pair_.base->runs.front().id, metric.name);
    const auto next =
        iteration_values(*sides_.next.reader, pair_.next->runs.front().id, metric.name);
    double most = 0;
    for (std::size_t i = 0; i < std::min(base.size(), next.size()); ++i)
      most = std::max(most, std::abs(next[i] - base[i]) / std::max(std::abs(base[i]), 1e-300));
    finding.verdict = most == 0 ? Verdict::same : Verdict::undecided;
    finding.reason =
        most == 0 ? "equal in every step" : fmt::format("differs by {:.1g} of itself", most);
    return {finding, {}};
  }

  Pending other_environment(const Metric& metric) const {
    Finding finding = of_newest(metric);
    finding.verdict = Verdict::not_comparable;
    finding.differing = runs_.differing;
    finding.reason =
        fmt::format("measured in another environment: {} differ{}",
                    fmt::join(runs_.differing, ", "), runs_.differing.size() == 1 ? "s" : "");
    finding.ratio.reset();
    return {finding, {}};
  }

  Pending measured(const Metric& metric) {
    Finding finding = finding_of(metric);
    const Samples samples = samples_of(runs_, sides_, metric.name);
    if (samples.base.empty() || samples.next.empty()) {
      finding.verdict = Verdict::not_enough;
      finding.reason = "a side has no samples of it in this environment";
      return {finding, {}};
    }
    const auto [base, next] = runs_of(samples);
    finding.base = evidence_of(base, samples.base);
    finding.next = evidence_of(next, samples.next);
    const bool constant = all_equal(samples.base) && all_equal(samples.next);
    if (constant && samples.base.front() == samples.next.front()) {
      finding.verdict = Verdict::same;
      finding.reason = "equal";
      return {finding, {}};
    }
    if (!all_positive(samples.base) || !all_positive(samples.next)) {
      finding.verdict = Verdict::not_enough;
      finding.reason = "values that are not positive have no ratio";
      return {finding, {}};
    }
    finding.ratio = finding.next->median / finding.base->median;
    if (constant && metric.unit != "s") {
      finding.verdict = Verdict::undecided;
      finding.reason = "one value a side, and it is not counted exactly";
      return {finding, {}};
    }
    if (samples.base.size() < 2 || samples.next.size() < 2) {
      finding.verdict = Verdict::not_enough;
      finding.reason = fmt::format("{} and {} samples", samples.base.size(), samples.next.size());
      return {finding, {}};
    }
    Pending pending{finding, change_of(samples, sides_.options.seed)};
    pending.finding.ratio = pending.change->ratio.value;
    pending.finding.ratio_interval = pending.change->ratio.interval;
    note_shapes(metric, samples);
    return pending;
  }

  /// The runs that were sampled; those of pairs in the same order on both sides.
  std::pair<std::vector<RunInfo>, std::vector<RunInfo>> runs_of(const Samples& samples) const {
    if (samples.taken != Taken::pairs) return {runs_.base, runs_.next};
    std::pair<std::vector<RunInfo>, std::vector<RunInfo>> runs;
    for (const RunPair& pair : runs_.pairs) {
      runs.first.push_back(pair.base);
      runs.second.push_back(pair.next);
    }
    return runs;
  }

  void note_shapes(const Metric& metric, const Samples& samples) {
    const std::pair<const char*, const std::vector<double>*> both[] = {{"base", &samples.base},
                                                                       {"new", &samples.next}};
    using Show = std::function<std::string(double)>;
    const Show show = metric.unit == "s" ? Show(show_seconds) : Show();
    for (const auto& [side, values] : both)
      if (const SampleShape shape = shape_of(*values); shape.odd())
        notes_.push_back(fmt::format("{} of {}, {}: {}", metric.name,
                                     short_name(pair_.next->series), side, to_text(shape, show)));
  }

  const SeriesPair& pair_;
  const Sides& sides_;
  std::vector<std::string>& notes_;
  Comparable runs_;
};

bool ran_after(const std::vector<RunInfo>& earlier, const std::vector<RunInfo>& later) {
  return std::ranges::max(earlier, {}, &RunInfo::created).created <=
         std::ranges::min(later, {}, &RunInfo::created).created;
}

std::vector<RunPair> pairs_of(const Comparable& runs, const Sides& sides) {
  std::multimap<std::string, std::pair<RunInfo, Turns>> nexts;
  for (auto run = runs.next.rbegin(); run != runs.next.rend(); ++run)
    if (auto turns = turns_of(state_of(*sides.next.reader, run->id)))
      nexts.emplace(turns->pair, std::pair(*run, *turns));
  std::vector<RunPair> pairs;
  if (nexts.empty()) return pairs;
  for (auto run = runs.base.rbegin(); run != runs.base.rend(); ++run) {
    const auto turns = turns_of(state_of(*sides.base.reader, run->id));
    const auto other = turns ? nexts.find(turns->pair) : nexts.end();
    if (other == nexts.end()) continue;
    pairs.push_back({*run, *turns, other->second.first, other->second.second});
    nexts.erase(other);
  }
  return pairs;
}

/// The median of each base, and that of the new run as its turns show it.
Samples samples_of_pairs(const Comparable& runs, const Sides& sides, std::string_view metric) {
  Samples samples{.taken = Taken::pairs};
  for (const RunPair& pair : runs.pairs) {
    const auto base = iteration_values(*sides.base.reader, pair.base.id, metric);
    const auto next = iteration_values(*sides.next.reader, pair.next.id, metric);
    if (base.empty() || next.empty()) continue;
    samples.base.push_back(median(base));
    samples.next.push_back(all_positive(base) && all_positive(next)
                               ? samples.base.back() *
                                     turn_ratio(base, pair.base_turns, next, pair.next_turns)
                               : median(next));
  }
  return samples;
}

Samples read_samples(const Comparable& runs, const Sides& sides, std::string_view metric) {
  if (Samples pairs = samples_of_pairs(runs, sides, metric); pairs.base.size() > 1) return pairs;
  const auto base = values_of(runs.base, *sides.base.reader, metric);
  const auto next = values_of(runs.next, *sides.next.reader, metric);
  if (const std::size_t least = least_runs(sides.options.significance);
      base.size() >= least && next.size() >= least)
    return {medians(base), medians(next),
            ran_after(runs.base, runs.next) || ran_after(runs.next, runs.base) ? Taken::apart
                                                                               : Taken::mixed};
  return {joined(base), joined(next), Taken::iterations};
}

/// A series that one side has not, as one finding.
Pending whole_series(const SeriesPair& pair, const Sides& sides) {
  const bool in_base = pair.base != nullptr && !pair.base->runs.empty();
  const SeriesRuns& there = in_base ? *pair.base : *pair.next;
  const SeriesRuns* other = in_base ? pair.next : pair.base;
  const Side& side = in_base ? sides.base : sides.next;
  Finding finding{.series = there.series,
                  .metric = {.name = all_quantities, .unit = "1"},
                  .verdict = in_base ? Verdict::vanished : Verdict::added};
  const auto metrics = metrics_of(*side.reader, there.runs.front().id);
  finding.metric.exact = std::ranges::any_of(metrics, &Metric::exact);
  finding.reason = in_base ? "only the base has this series" : "only the new side has this series";
  if (other != nullptr && other->ended_bad)
    finding.reason += fmt::format(": there its run {}: {}", name_of(other->ended_bad->status),
                                  other->ended_bad->reason);
  (in_base ? finding.base : finding.next) = evidence_of({there.runs.front()}, {});
  return {finding, {}};
}

}  // namespace

Comparable comparable_runs(const SeriesPair& pair, const Sides& sides) {
  std::optional<Comparable> found;
  std::vector<std::string> differing;
  std::set<std::pair<std::string, std::string>> seen;
  for (const RunInfo& base : pair.base->runs)
    for (const RunInfo& next : pair.next->runs) {
      if (found || !seen.emplace(base.environment, next.environment).second) continue;
      const auto fields = differences_but(fields_of(environment_of(*sides.base.reader, base.id)),
                                          fields_of(environment_of(*sides.next.reader, next.id)),
                                          sides.options.allowed);
      if (differing.empty()) differing = fields;
      if (!fields.empty()) continue;
      found.emplace();
      for (const RunInfo& run : pair.base->runs)
        if (run.environment == base.environment) found->base.push_back(run);
      for (const RunInfo& run : pair.next->runs)
        if (run.environment == next.environment) found->next.push_back(run);
    }
  if (!found) return {.differing = differing};
  found->pairs = pairs_of(*found, sides);
  return *found;
}

Samples samples_of(const Comparable& runs, const Sides& sides, std::string_view metric) {
  if (runs.base.empty() || runs.next.empty()) return {.taken = Taken::iterations};
  const auto [place, is_new] = sides.read.try_emplace(
      {runs.base.front().id.value, runs.next.front().id.value, std::string(metric)});
  if (is_new) place->second = read_samples(runs, sides, metric);
  return place->second;
}

std::vector<Pending> compare_series(const SeriesPair& pair, const Sides& sides,
                                    std::vector<std::string>& notes) {
  const bool base = pair.base != nullptr && !pair.base->runs.empty();
  const bool next = pair.next != nullptr && !pair.next->runs.empty();
  if (!base && !next) {
    const bool named = sides.base.one_run || sides.next.one_run;
    if (named && (pair.base == nullptr || pair.next == nullptr)) return {};
    const RunInfo& run = *(pair.next != nullptr ? pair.next : pair.base)->ended_bad;
    notes.push_back(fmt::format("{}: no run of it is complete: {}: {}", short_name(run.series),
                                name_of(run.status), run.reason));
    return {};
  }
  if (!base || !next) {
    // Who names one run asks for no other series.
    const bool asked = base ? sides.base.one_run || !sides.next.one_run
                            : sides.next.one_run || !sides.base.one_run;
    return asked ? std::vector{whole_series(pair, sides)} : std::vector<Pending>{};
  }
  return SeriesComparer(pair, sides, notes).findings();
}

}  // namespace shardlab::results
