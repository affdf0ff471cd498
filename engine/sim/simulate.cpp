#include "engine/sim/simulate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "engine/core/check.h"
#include "engine/core/split.h"
#include "engine/sim/call_events.h"

namespace shardlab::sim {
namespace {

/// Whether some class has calls of two communicators under way at once.
bool shares_wires(const Mesh& mesh, const std::vector<AxisList>& lanes,
                  const std::vector<PricedTrace>& traces) {
  for (const PricedTrace& priced : traces) {
    std::set<int> used;
    for (std::uint32_t step = 0; step < priced.trace().steps().size(); ++step) {
      const PricedTrace::Entry& entry = priced[step];
      if (entry.kind == Step::Kind::start && entry.progress == Progress::beside &&
          mesh.size(lanes[entry.lane]) > 1)
        used.insert(entry.lane);
    }
    if (used.size() > 1) return true;
  }
  return false;
}

/// Says whose steps are kept.
void choose_kept(std::vector<Timeline>& timelines, const std::vector<RankProgram>& programs,
                 std::size_t most_kept) {
  std::set<const FoldedTrace*> shown;
  std::size_t kept = 0;
  for (const bool again : {false, true})
    for (std::size_t c = 0; c < timelines.size(); ++c) {
      if (!again) timelines[c].kept = false;
      if (timelines[c].kept || (!again && shown.contains(programs[c].trace))) continue;
      const std::size_t length = programs[c].trace->length();
      if (kept != 0 && kept + length > most_kept) continue;
      kept += length;
      timelines[c].kept = true;
      shown.insert(programs[c].trace);
    }
}

}  // namespace

double Stragglers::slowdown_of(int rank) const {
  const auto found = slowdown.find(rank);
  return found == slowdown.end() ? 1 : found->second;
}

double Stragglers::noise(int rank, std::size_t step) const {
  if (jitter == 0) return 1;
  std::uint64_t bits =
      hash_join(hash_join(hash_join(hash_start, seed), step), static_cast<std::uint64_t>(rank));
  bits = (bits ^ bits >> 31U) * 0xBF58476D1CE4E5B9ULL;
  bits ^= bits >> 29U;
  // Four uniform numbers add up to nearly a normal one, of variance 4 / 12.
  double sum = 0;
  for (int i = 0; i < 4; ++i, bits >>= 16U) sum += static_cast<double>(bits & 0xFFFFU) / 0xFFFF;
  return std::exp(jitter * (sum - 2) / std::sqrt(4.0 / 12));
}

std::vector<int> Stragglers::colours(int ranks) const {
  std::vector<int> colours;
  if (jitter == 0 && slowdown.empty()) return colours;
  colours.assign(static_cast<std::size_t>(ranks), 0);
  int next = 1;
  for (const auto& [rank, factor] : slowdown) {
    check(rank >= 0 && rank < ranks, "slow rank {}: there are {}", rank, ranks);
    check(factor > 0, "slow rank {}: a factor of {}", rank, factor);
    colours[rank] = next++;
  }
  if (jitter != 0) std::iota(colours.begin(), colours.end(), 0);
  return colours;
}

Step TimedStep::whole() const {
  Step whole = *step;
  whole.sequence = sequence;
  whole.begin_seconds = begin_seconds;
  whole.end_seconds = end_seconds;
  return whole;
}

const Timeline& Simulated::slowest() const {
  return *std::max_element(timelines.begin(), timelines.end(), [](const auto& a, const auto& b) {
    return std::pair(a.kept, a.seconds) < std::pair(b.kept, b.seconds);
  });
}

Simulated simulate(const Placement& placement, std::span<const int> trace_class,
                   std::span<const RankProgram> programs, const Prices& prices,
                   const Stragglers& stragglers, std::size_t most_kept, std::size_t most_steps) {
  Simulated simulated;
  simulated.classes =
      time_classes(placement, trace_class, programs, stragglers.colours(placement.mesh().size()));
  const TimeClasses& classes = simulated.classes;
  const std::size_t count = classes.representative.size();
  std::vector<RankProgram> of_class;
  std::size_t steps = 0;
  for (std::size_t c = 0; c < count; ++c) {
    of_class.push_back(programs[trace_class[classes.representative[c]]]);
    steps += of_class.back().trace->length();
  }
  std::vector<AxisList> lanes;
  std::vector<PricedTrace> priced;
  std::map<const FoldedTrace*, std::size_t> known;
  for (const RankProgram& program : of_class)
    if (known.emplace(program.trace, priced.size()).second)
      priced.emplace_back(*program.trace, prices, lanes);

  const bool shared = shares_wires(placement.mesh(), lanes, priced);
  // Putting calls in the order of time costs four times as much.
  if (shared) most_steps /= 4;
  if (steps > most_steps)
    fail(Fault::unsupported,
         "simulate: {} time classes of {} ranks take {} steps, more than {} are not simulated; "
         "parts that divide evenly fold into few classes",
         count, placement.mesh().size(), steps, most_steps);

  simulated.timelines.resize(count);
  std::vector<Walker> walkers;
  walkers.reserve(count);
  for (std::size_t c = 0; c < count; ++c) {
    simulated.timelines[c].rank = classes.representative[c];
    simulated.timelines[c].members = classes.members[c];
  }
  choose_kept(simulated.timelines, of_class, most_kept);
  for (std::size_t c = 0; c < count; ++c)
    walkers.emplace_back(of_class[c], priced[known.at(of_class[c].trace)], classes.meetings[c],
                         lanes.size(), prices, stragglers, simulated.timelines[c]);
  CallEvents(classes, lanes, walkers, simulated.timelines, shared).run();
  for (const Timeline& timeline : simulated.timelines)
    simulated.seconds = std::max(simulated.seconds, timeline.seconds);
  return simulated;
}

}  // namespace shardlab::sim
