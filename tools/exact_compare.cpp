#include "tools/exact_compare.h"

#include <algorithm>
#include <cstdlib>

#include "engine/core/check.h"

namespace shardlab {
namespace {

using results::Finding;
using results::Metric;
using results::Verdict;

constexpr std::size_t most_causes = 4;

/// The part of one place on both sides; either may be missing.
struct Pair {
  const ExactPart* base = nullptr;
  const ExactPart* next = nullptr;

  [[nodiscard]] const ExactPart& any() const { return next != nullptr ? *next : *base; }
  [[nodiscard]] std::int64_t change(std::int64_t ExactPart::*field) const {
    return (next != nullptr ? next->*field : 0) - (base != nullptr ? base->*field : 0);
  }
};

std::vector<Pair> pairs_of(const ExactSeries& base, const ExactSeries& next) {
  std::vector<Pair> pairs;
  const auto place = [&](const ExactPart& part) -> Pair& {
    for (Pair& pair : pairs)
      if (pair.any().scope == part.scope && pair.any().op == part.op &&
          pair.any().moves == part.moves)
        return pair;
    return pairs.emplace_back();
  };
  for (const ExactPart& part : base.parts) place(part).base = &part;
  for (const ExactPart& part : next.parts) place(part).next = &part;
  return pairs;
}

std::string signed_text(std::int64_t change) { return fmt::format("{:+}", change); }

/// What one call carries, or all together where they differ.
std::string payload(const ExactPart& part) {
  return part.bytes % part.calls == 0
             ? fmt::format("{} calls of {} B", part.calls, part.bytes / part.calls)
             : fmt::format("{} calls of {} B together", part.calls, part.bytes);
}

std::string amount(const ExactPart* part, std::int64_t ExactPart::*field) {
  if (part == nullptr || part->calls == 0) return "nothing";
  if (field == &ExactPart::bytes) return payload(*part);
  if (field == &ExactPart::calls) return fmt::format("{} calls", part->calls);
  return fmt::format("{} flop", part->*field);
}

/// Where a sum over parts changed, the largest change first.
std::vector<std::string> causes_of(std::vector<Pair> pairs, std::int64_t ExactPart::*field,
                                   bool moves) {
  std::erase_if(pairs, [&](const Pair& pair) {
    return pair.change(field) == 0 || (field != &ExactPart::flop && pair.any().moves != moves);
  });
  std::ranges::stable_sort(pairs, [&](const Pair& a, const Pair& b) {
    return std::abs(a.change(field)) > std::abs(b.change(field));
  });
  std::vector<std::string> causes;
  for (const Pair& pair : pairs) {
    if (causes.size() == most_causes) {
      causes.push_back(fmt::format("and {} more", pairs.size() - most_causes));
      break;
    }
    const ExactPart& part = pair.any();
    causes.push_back(fmt::format("{}{}: {} -> {}", part.op,
                                 part.scope.empty() ? "" : " in " + part.scope,
                                 amount(pair.base, field), amount(pair.next, field)));
  }
  return causes;
}

const std::int64_t* quantity(const ExactSeries& series, const std::string& name) {
  for (const auto& [known, value] : series.quantities)
    if (known == name) return &value;
  return nullptr;
}

/// Memory has no sum of parts: the categories that changed and the step that holds most say it.
std::vector<std::string> causes_of_peak(const ExactSeries& base, const ExactSeries& next) {
  std::vector<std::string> causes;
  for (const auto& [name, value] : next.quantities) {
    const std::int64_t* before = quantity(base, name);
    const std::string prefix = "peak_bytes.";
    if (name.starts_with(prefix) && before != nullptr && *before != value)
      causes.push_back(fmt::format("{}: {} -> {} B", name.substr(prefix.size()), *before, value));
  }
  causes.push_back(
      base.highest == next.highest
          ? fmt::format("highest after {} as before", next.highest)
          : fmt::format("highest after {}, before that after {}", next.highest, base.highest));
  return causes;
}

Metric metric_of(const std::string& name) {
  const char* unit = name.find("bytes") != std::string::npos ? "B" : name == "flop" ? "flop" : "1";
  return {name, unit, true, results::Better::lower, results::AcrossRanks::max};
}

std::vector<std::string> causes_of(const std::string& name, const ExactSeries& base,
                                   const ExactSeries& next) {
  const std::vector<Pair> pairs = pairs_of(base, next);
  if (name == "bytes_sent") return causes_of(pairs, &ExactPart::bytes, true);
  if (name == "collectives") return causes_of(pairs, &ExactPart::calls, true);
  if (name == "flop") return causes_of(pairs, &ExactPart::flop, false);
  if (name == "dispatches") return causes_of(pairs, &ExactPart::calls, false);
  if (name == "peak_bytes") return causes_of_peak(base, next);
  return {};
}

results::Evidence evidence(std::int64_t value) {
  return {
      .runs = {}, .commit = {}, .samples = 1, .median = static_cast<double>(value), .interval = {}};
}

std::string behind(const Metric& metric) { return metric.unit == "1" ? "" : " " + metric.unit; }

Finding changed(const std::string& name, const ExactSeries& base, const ExactSeries& next,
                std::int64_t before, std::int64_t after) {
  Finding finding;
  finding.series = next.key;
  finding.metric = metric_of(name);
  finding.verdict = after > before ? Verdict::worse : Verdict::better;
  finding.base = evidence(before);
  finding.next = evidence(after);
  if (before != 0) finding.ratio = static_cast<double>(after) / static_cast<double>(before);
  finding.reason =
      fmt::format("{} -> {}{}, {}{}{}", before, after, behind(finding.metric),
                  signed_text(after - before), behind(finding.metric),
                  before == 0 ? "" : fmt::format(" ({:+.2f} %)", 100 * (*finding.ratio - 1)));
  finding.causes = causes_of(name, base, next);
  return finding;
}

/// What no quantity of a series shows: the same sums from other places.
std::vector<std::string> moved(const ExactSeries& base, const ExactSeries& next) {
  const std::vector<Pair> pairs = pairs_of(base, next);
  std::vector<std::string> causes;
  for (const auto& [field, moves] : {std::pair{&ExactPart::bytes, true},
                                     {&ExactPart::calls, true},
                                     {&ExactPart::calls, false},
                                     {&ExactPart::flop, false}})
    for (std::string& cause : causes_of(pairs, field, moves)) causes.push_back(std::move(cause));
  if (causes.empty() && base.highest != next.highest)
    causes.push_back(
        fmt::format("highest after {}, before that after {}", next.highest, base.highest));
  return causes;
}

Finding one_sided(const ExactSeries& series, Verdict verdict) {
  Finding finding;
  finding.series = series.key;
  finding.metric = metric_of("exact quantities");
  finding.verdict = verdict;
  finding.reason = verdict == Verdict::added ? "is new and has no line"
                                             : "has a line, but is not measured any more";
  return finding;
}

void compare_series(const ExactSeries& base, const ExactSeries& next,
                    std::vector<Finding>& findings) {
  const std::size_t before = findings.size();
  for (const auto& [name, value] : next.quantities)
    if (const std::int64_t* old = quantity(base, name); old == nullptr) {
      findings.push_back(one_sided(next, Verdict::added));
      findings.back().metric = metric_of(name);
      findings.back().next = evidence(value);
      findings.back().reason = "is new and has no column";
    } else if (*old != value) {
      findings.push_back(changed(name, base, next, *old, value));
    }
  for (const auto& [name, value] : base.quantities)
    if (quantity(next, name) == nullptr) {
      findings.push_back(one_sided(base, Verdict::vanished));
      findings.back().metric = metric_of(name);
      findings.back().base = evidence(value);
      findings.back().reason = "has a column, but is not measured any more";
    }
  if (findings.size() != before) return;
  std::vector<std::string> causes = moved(base, next);
  if (causes.empty()) return;
  Finding finding;
  finding.series = next.key;
  finding.metric = metric_of("exact quantities");
  finding.verdict = Verdict::undecided;
  finding.reason = "equal sums from other places";
  finding.causes = std::move(causes);
  findings.push_back(std::move(finding));
}

/// Vanished series first, then what grew, the most first, then new series, the rest and what
/// shrank.
std::pair<int, double> order_of(const Finding& finding) {
  const double growth = finding.ratio.value_or(1);
  switch (finding.verdict) {
    case Verdict::vanished:
      return {0, 0};
    case Verdict::worse:
      return {1, -growth};
    case Verdict::added:
      return {2, 0};
    case Verdict::better:
      return {4, growth};
    default:
      return {3, 0};
  }
}

}  // namespace

results::Comparison compare_exact(const std::vector<ExactSeries>& base,
                                  const std::vector<ExactSeries>& next) {
  results::Comparison comparison;
  comparison.base = "committed";
  comparison.next = "this build";
  const auto find = [](const std::vector<ExactSeries>& all, const results::SeriesKey& key) {
    const auto found =
        std::ranges::find_if(all, [&](const ExactSeries& each) { return each.key == key; });
    return found == all.end() ? nullptr : &*found;
  };
  for (const ExactSeries& each : next)
    if (const ExactSeries* before = find(base, each.key); before != nullptr)
      compare_series(*before, each, comparison.findings);
    else
      comparison.findings.push_back(one_sided(each, Verdict::added));
  for (const ExactSeries& each : base)
    if (find(next, each.key) == nullptr)
      comparison.findings.push_back(one_sided(each, Verdict::vanished));
  std::ranges::stable_sort(comparison.findings, [](const Finding& a, const Finding& b) {
    return order_of(a) < order_of(b);
  });
  return comparison;
}

}  // namespace shardlab
