#include "results/causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>

#include "results/scaling.h"

namespace shardlab::results {
namespace {

constexpr std::size_t most_causes = 5;
constexpr std::string_view wait_mark = "wait ";

bool on_communicator(const Step& step) { return step.lane.starts_with("comm"); }

/// `over domain` from a lane `comm:domain`.
std::string axes_of(const Step& step) {
  constexpr std::string_view mark = "comm:";
  return step.lane.starts_with(mark) ? " over " + step.lane.substr(mark.size()) : "";
}

using ScopeKey = std::tuple<std::int32_t, std::int64_t, std::int64_t>;

std::string op_of(const Step& step) {
  return (step.op.starts_with(wait_mark) ? step.op.substr(wait_mark.size()) : step.op) +
         axes_of(step);
}

/// Where a step lies: ` in block0`.
std::string path_of(const Step& step, const std::map<ScopeKey, const Scope*>& scopes) {
  std::string path;
  auto ordinal = step.scope;
  while (ordinal) {
    const auto scope = scopes.find({step.rank, step.iteration, *ordinal});
    if (scope == scopes.end()) break;
    path = scope->second->name + (path.empty() ? "" : "/" + path);
    ordinal = scope->second->parent;
  }
  return path.empty() ? "" : " in " + path;
}

struct Growth {
  std::string place;
  double base = 0;
  double next = 0;
};

using Amount = std::function<double(const Work&)>;

std::vector<Growth> growths(const Profile& base, const Profile& next, bool more,
                            const Amount& amount) {
  std::set<std::string> places;
  for (const auto& [place, work] : base.places) places.insert(place);
  for (const auto& [place, work] : next.places) places.insert(place);
  std::vector<Growth> all;
  for (const std::string& place : places) {
    const auto of = [&](const Profile& profile) {
      const auto found = profile.places.find(place);
      return found == profile.places.end() ? Work{} : found->second;
    };
    const Growth growth{place, amount(of(base)), amount(of(next))};
    if (more ? growth.next > growth.base : growth.next < growth.base) all.push_back(growth);
  }
  std::ranges::stable_sort(all, std::greater<>(),
                           [](const Growth& g) { return std::abs(g.next - g.base); });
  return all;
}

/// How the growth of one place is told.
struct Telling {
  const char* verb;
  const char* unit;
};

std::vector<std::string> told(const std::vector<Growth>& all, bool more, const Telling& how) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(all.size(), most_causes); ++i) {
    const double base = all[i].base, next = all[i].next;
    texts.push_back(fmt::format("{} {} {:.10g} {} {} ({:.10g} -> {:.10g}, all ranks together)",
                                all[i].place, how.verb, std::abs(next - base), how.unit,
                                more ? "more" : "less", base, next));
  }
  if (all.size() > most_causes)
    texts.push_back(fmt::format("and {} places more", all.size() - most_causes));
  return texts;
}

}  // namespace

Profile profile_of(const Reader& reader, RunId run) {
  const Timeline timeline = read_timeline(reader, run);
  std::map<std::int32_t, double> stands_for;
  for (const Fold& fold : folds_of(reader, run))
    stands_for[fold.rank] = static_cast<double>(fold.ranks);
  std::map<ScopeKey, const Scope*> scopes;
  for (const Scope& scope : timeline.scopes)
    scopes[{scope.rank, scope.iteration, scope.ordinal}] = &scope;
  Profile profile;
  std::set<std::int64_t> iterations;
  for (const Step& step : timeline.steps) {
    iterations.insert(step.iteration);
    const std::string op = op_of(step), place = op + path_of(step, scopes);
    const auto fold = stands_for.find(step.rank);
    const double ranks = fold == stands_for.end() ? 1 : fold->second;
    Work& work = profile.places[place];
    work.op = op;
    work.communicates = on_communicator(step);
    work.seconds[step.rank] += step.end_seconds - step.begin_seconds;
    if (static_cast<double>(step.live_bytes) > profile.peak_bytes) {
      profile.peak_bytes = static_cast<double>(step.live_bytes);
      profile.peak = place;
    }
    if (step.op.starts_with(wait_mark)) continue;
    work.calls += ranks;
    work.bytes += ranks * static_cast<double>(step.bytes);
    work.flop += ranks * static_cast<double>(step.flop);
  }
  const auto traced = static_cast<double>(std::max<std::size_t>(iterations.size(), 1));
  for (auto& [place, work] : profile.places) {
    for (double* sum : {&work.calls, &work.bytes, &work.flop}) *sum /= traced;
    for (auto& [rank, seconds] : work.seconds) seconds /= traced;
  }
  return profile;
}

std::vector<std::string> causes_of(const Metric& metric, bool more, const Profile& base,
                                   const Profile& next) {
  if (base.places.empty() || next.places.empty()) return {};
  const auto told_by = [&](const Telling& how, const Amount& amount) {
    return told(growths(base, next, more, amount), more, how);
  };
  if (metric == bytes_sent())
    return told_by({"sends", "B"}, [](const Work& w) { return w.communicates ? w.bytes : 0; });
  if (metric == collectives())
    return told_by({"has", "calls"}, [](const Work& w) { return w.communicates ? w.calls : 0; });
  if (metric == dispatches())
    return told_by({"has", "calls"}, [](const Work& w) { return w.communicates ? 0 : w.calls; });
  if (metric == flop()) return told_by({"has", "flop"}, [](const Work& w) { return w.flop; });
  if (metric == peak_bytes() && next.peak == base.peak)
    return {fmt::format("the peak lies at {} as before ({:.0f} -> {:.0f} B live)", next.peak,
                        base.peak_bytes, next.peak_bytes)};
  if (metric == peak_bytes())
    return {fmt::format("the peak lies at {} with {:.0f} B live, before at {} with {:.0f} B",
                        next.peak, next.peak_bytes, base.peak, base.peak_bytes)};
  return {};
}

}  // namespace shardlab::results
