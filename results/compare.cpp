#include "results/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "results/compare_curves.h"
#include "results/holm.h"
#include "results/time_causes.h"

namespace shardlab::results {
namespace {

int severity(const Finding& finding) {
  constexpr std::array order = {Verdict::worse,      Verdict::vanished,  Verdict::not_comparable,
                                Verdict::not_enough, Verdict::undecided, Verdict::better,
                                Verdict::added,      Verdict::same};
  const Verdict verdict = is_news(finding) ? finding.verdict : Verdict::added;
  return static_cast<int>(std::ranges::find(order, verdict) - order.begin());
}

double size_of(const Finding& finding) {
  return finding.ratio && *finding.ratio > 0 ? std::abs(std::log(*finding.ratio)) : 0;
}

/// The timelines of the runs of a side, as far as more of them tell more.
Profiles profiles_of(const Side& side, const Evidence& evidence) {
  constexpr std::size_t most = 40;
  Profiles profiles;
  for (std::size_t i = 0; i < std::min(most, evidence.runs.size()); ++i)
    profiles.push_back(profile_of(*side.reader, find_run(*side.reader, evidence.runs[i])));
  return profiles;
}

void explain(Finding& finding, const Sides& sides, Taken taken) {
  if (finding.metric != step_seconds()) return;
  finding.causes =
      time_causes(finding.next->median > finding.base->median,
                  profiles_of(sides.base, *finding.base), profiles_of(sides.next, *finding.next),
                  taken == Taken::pairs ? Timelines::paired : Timelines::sampled);
}

/// A ratio of fractions near zero says nothing; what was judged is the time that they make.
void tell_curve(Finding& finding) {
  if (finding.metric.name != "serial_fraction") return;
  const Interval& range = *finding.ratio_interval;
  finding.reason +=
      fmt::format(": the fitted time on most ranks over that on one, {:+.1f} .. {:+.1f} %",
                  100 * (range.low - 1), 100 * (range.high - 1));
  finding.ratio.reset();
  finding.ratio_interval.reset();
}

/// Predictions err to both sides: farther from the measurement is worse.
Verdict drift_of(const Finding& finding) {
  const double base = std::abs(std::log(finding.base->median));
  const double next = std::abs(std::log(finding.next->median));
  return next > base ? Verdict::worse : Verdict::better;
}

void decide(std::vector<Pending>& all, const Sides& sides) {
  std::vector<double> p;
  for (const Pending& pending : all)
    if (pending.change) p.push_back(pending.change->p);
  const std::vector<double> adjusted = holm(p);
  std::size_t at = 0;
  for (Pending& pending : all) {
    if (!pending.change) continue;
    Finding& finding = pending.finding;
    finding.p = adjusted[at++];
    Judgement judgement = judge(*pending.change, finding.metric, *finding.p, sides.options);
    finding.verdict = judgement.verdict;
    finding.reason = std::move(judgement.reason);
    finding.detectable = judgement.detectable;
    const bool decided = finding.verdict == Verdict::worse || finding.verdict == Verdict::better;
    if (finding.subject == Subject::curve) tell_curve(finding);
    if (finding.subject == Subject::drift && decided) finding.verdict = drift_of(finding);
    if (finding.subject == Subject::quantity && decided)
      explain(finding, sides, pending.change->taken);
  }
}

/// Else a series that both sides have would be missing without a word.
void note_nothing_shared(const SeriesPair& pair, const std::vector<Pending>& found,
                         std::vector<std::string>& notes) {
  if (pair.base == nullptr || pair.next == nullptr) return;
  if (pair.base->runs.empty() || pair.next->runs.empty()) return;
  if (std::ranges::none_of(found,
                           [](const Pending& p) { return p.finding.base && p.finding.next; }))
    notes.push_back(fmt::format("{}: both sides have runs of it, but no quantity to compare",
                                short_name(pair.next->series)));
}

void note_how_taken(const std::vector<Pending>& all, Comparison& comparison) {
  const auto any = [&](Taken taken) {
    return std::ranges::any_of(
        all, [&](const Pending& p) { return p.change && p.change->taken == taken; });
  };
  const ComparisonOptions& options = comparison.options;
  if (any(Taken::iterations) && !options.iterations)
    comparison.notes.push_back(fmt::format(
        "times within fewer than {0} runs a side prove nothing, because they do not show what two "
        "starts of a program differ by: run both sides {0} times, in turns, or use --ab",
        least_runs(options.significance)));
  if (any(Taken::apart) || (any(Taken::iterations) && options.iterations))
    comparison.notes.push_back(fmt::format(
        "one side ran after the other, and machines change meanwhile: only changes above {:.3g} % "
        "count; --ab runs both in turns",
        100 * std::max(options.floor, options.apart_floor)));
}

}  // namespace

Comparison compare(const Side& base, const Side& next, const ComparisonOptions& options) {
  Comparison comparison{.base = base.title, .next = next.title, .options = options};
  const Sides sides{base, next, options};
  const auto bases = series_of(base, comparison.notes);
  const auto nexts = series_of(next, comparison.notes);
  std::vector<Pending> all;
  const auto add = [&](std::vector<Pending> found) {
    std::ranges::move(found, std::back_inserter(all));
  };
  const std::vector<SeriesPair> pairs = join(bases, nexts, options.allowed);
  for (const SeriesPair& pair : pairs) {
    std::vector<Pending> found = compare_series(pair, sides, comparison.notes);
    note_nothing_shared(pair, found, comparison.notes);
    add(std::move(found));
  }
  add(compare_curves(pairs, sides));
  add(compare_drift(pairs, sides));
  decide(all, sides);
  note_how_taken(all, comparison);
  for (Pending& pending : all) comparison.findings.push_back(std::move(pending.finding));
  sort_worst_first(comparison);
  return comparison;
}

void sort_worst_first(Comparison& comparison) {
  std::ranges::stable_sort(comparison.findings, {}, [](const Finding& finding) {
    return std::pair(severity(finding), -size_of(finding));
  });
}

bool shares_series(const Comparison& comparison) {
  return std::ranges::any_of(comparison.findings,
                             [](const Finding& f) { return f.base && f.next; });
}

}  // namespace shardlab::results
