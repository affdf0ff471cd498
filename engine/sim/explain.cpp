#include "engine/sim/explain.h"

#include <algorithm>
#include <map>

#include "engine/core/check.h"

namespace shardlab::sim {
namespace {

double kernels_of(const RankSpans& rank) {
  double seconds = -rank.slowed;
  for (const Span& span : rank.spans)
    if (span.kind == Span::Kind::kernel) seconds += span.end - span.begin;
  return seconds;
}

/// Ranks by the time of their kernels, shortest first.
std::vector<const RankSpans*> by_kernels(const std::vector<RankSpans>& ranks) {
  std::vector<const RankSpans*> sorted;
  for (const RankSpans& rank : ranks) sorted.push_back(&rank);
  std::stable_sort(sorted.begin(), sorted.end(), [](const RankSpans* a, const RankSpans* b) {
    return kernels_of(*a) < kernels_of(*b);
  });
  return sorted;
}

/// Kernel seconds of the rank in the middle, each class counted as often as it has members; of an
/// even number the lower one, so that one slow rank of two is not the measure.
double median_kernels(const std::vector<const RankSpans*>& sorted) {
  int members = 0;
  for (const RankSpans* rank : sorted) members += rank->members;
  int before = 0;
  for (const RankSpans* rank : sorted) {
    before += rank->members;
    if (2 * before >= members) return kernels_of(*rank);
  }
  return kernels_of(*sorted.back());
}

using Calls = std::map<std::pair<std::string, std::uint64_t>, double>;

/// When the last rank came to each call: what it posted, or began to wait.
Calls last_arrivals(const std::vector<RankSpans>& ranks) {
  Calls last;
  for (const RankSpans& rank : ranks)
    for (const Span& span : rank.spans) {
      if (span.kind != Span::Kind::transfer) continue;
      double& there = last.try_emplace({span.lane, span.sequence}, span.begin).first->second;
      there = std::max(there, span.begin);
    }
  return last;
}

}  // namespace

Breakdown breakdown(const std::vector<RankSpans>& ranks, std::optional<double> begins) {
  check(!ranks.empty(), "explain: no timeline is stored for this run");
  Breakdown result;
  double begin = begins.value_or(0);
  bool first = !begins;
  for (const RankSpans& rank : ranks) {
    for (const Span& span : rank.spans) {
      begin = first ? span.begin : std::min(begin, span.begin);
      first = false;
      result.total = std::max(result.total, span.end);
    }
  }
  result.total -= begin;
  const std::vector<const RankSpans*> sorted = by_kernels(ranks);
  const RankSpans& rank = *sorted.back();
  result.rank = rank.rank;
  result.kernels = median_kernels(sorted);
  result.imbalance = kernels_of(rank) - result.kernels;
  result.slowed = rank.slowed;
  const Calls last = last_arrivals(ranks);
  std::map<std::string, double> transfers;
  double busy = 0;
  double free = begin;
  for (const Span& span : rank.spans) {
    if (span.kind == Span::Kind::transfer) continue;
    const double idle = std::max(0.0, span.begin - free);
    result.launch += idle;
    free = std::max(free, span.end);
    if (span.kind == Span::Kind::kernel) {
      busy += span.end - span.begin;
      continue;
    }
    const auto found = last.find({span.lane, span.sequence});
    const double came = found == last.end() ? span.begin : found->second;
    const double lateness = std::clamp(came - span.begin, 0.0, span.end - span.begin);
    result.waiting += lateness;
    transfers[span.op] += span.end - span.begin - lateness;
  }
  result.transfers.assign(transfers.begin(), transfers.end());
  // The end of the last rank is waited for as well.
  result.waiting += std::max(0.0, begin + result.total - free);
  result.rest = result.total - busy - result.launch - result.waiting;
  for (const auto& [op, seconds] : result.transfers) result.rest -= seconds;
  return result;
}

Waterfall explain(const Breakdown& one, const Breakdown& many, int ranks, double one_total,
                  double total) {
  Waterfall waterfall;
  waterfall.ideal = one_total / ranks;
  waterfall.total = total;
  const auto add = [&](std::string name, double seconds) {
    if (seconds != 0) waterfall.causes.push_back({std::move(name), seconds});
  };
  const double kernels = many.kernels - one.kernels / ranks;
  add(kernels > 0 ? "small or less efficient kernels, work done on every rank"
                  : "kernels more efficient than those of one rank",
      kernels);
  add("launch and host", many.launch - one.launch / ranks);
  for (const auto& [op, seconds] : many.transfers) add("communication not hidden: " + op, seconds);
  add("kernels slowed by communication beside them", many.slowed - one.slowed / ranks);
  add("imbalance", many.imbalance);
  add("waiting for others", many.waiting);
  waterfall.unexplained = total - waterfall.ideal;
  for (const Cause& cause : waterfall.causes) waterfall.unexplained -= cause.seconds;
  return waterfall;
}

}  // namespace shardlab::sim
