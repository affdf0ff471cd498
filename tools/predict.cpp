#include "tools/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/core/check.h"
#include "engine/sim/communicator_key.h"
#include "engine/sim/peer_ring.h"

namespace shardlab {
namespace {

/// How well the time of the slowest class is known: kernels of one family err together, families
/// and communication apart.
void judge(Prediction& prediction, const sim::MachinePrices& prices,
           const PredictOptions& options) {
  const sim::Timeline* slowest = &prediction.simulated.slowest();
  std::map<sim::Family, double> spread;
  double total = 0;
  std::map<std::string, double> outside;
  std::map<std::string, double> not_validated;
  for (const sim::TimedStep& timed : slowest->steps) {
    const Step& step = *timed.step;
    if (step.kind != Step::Kind::kernel) continue;
    const sim::OpTime time = prices.rated(step);
    spread[sim::family_of(step.op)] += time.seconds * time.half_width;
    total += time.seconds;
    prediction.weakest = sim::weakest(prediction.weakest, time.weakest);
    if (time.extrapolated) outside[sim::name_of(sim::family_of(step.op))] += time.seconds;
  }
  double variance = 0;
  for (const auto& [family, seconds] : spread) variance += seconds * seconds;
  // Collectives err together as far as one model or one curve prices them.
  double spread_of_calls = 0;
  std::map<std::pair<std::uint64_t, std::uint64_t>, const Step*> starts;
  for (const sim::TimedStep& timed : slowest->steps)
    if (timed.step->kind == Step::Kind::start)
      starts[{sim::communicator_key(timed.step->axes), timed.sequence}] = timed.step;
  const int number = prediction.simulated.classes.of_rank[slowest->rank];
  const std::vector<sim::Meeting>& meetings = prediction.simulated.classes.meetings[number];
  for (const sim::WaitCause& wait : slowest->waits) {
    const sim::TimedStep& timed = slowest->steps[wait.step];
    const Step& start = *starts.at({sim::communicator_key(timed.step->axes), timed.sequence});
    const auto meeting = std::find_if(meetings.begin(), meetings.end(), [&](const auto& each) {
      return each.axes == start.axes && each.relative_peer == start.relative_peer;
    });
    const sim::CallTrust trust = prices.trust(start, meeting->place);
    spread_of_calls += trust.half_width * wait.transfer_seconds;
    if (wait.transfer_seconds <= 0) continue;
    prediction.weakest = sim::weakest(prediction.weakest, trust.source);
    const char* const call = start.relative_peer != 0 ? "send_recv" : start.op;
    if (trust.extrapolated) outside[call] += wait.transfer_seconds;
    if (!trust.validated) not_validated[call] += wait.transfer_seconds;
  }
  // What nothing measured covers matters only as far as it takes time.
  double uncovered = 0;
  for (const auto& [what, seconds] : outside) uncovered += seconds;
  prediction.extrapolated = uncovered > 0.01 * slowest->seconds;
  prediction.outside.assign(outside.begin(), outside.end());
  prediction.not_validated.assign(not_validated.begin(), not_validated.end());
  variance += spread_of_calls * spread_of_calls;
  variance += std::pow(options.profile.sharded_issue.half_width * slowest->launch_seconds, 2);
  if (slowest->seconds > 0) prediction.half_width = std::sqrt(variance) / slowest->seconds;
}

/// Each program as the software of a profile takes it, without turns to fold.
std::shared_ptr<const std::vector<sim::FoldedTrace>> rewritten(
    const sim::Profile& profile, const std::vector<sim::RankProgram>& programs) {
  constexpr std::size_t most_steps = 10'000'000;
  auto all = std::make_shared<std::vector<sim::FoldedTrace>>();
  std::size_t steps = 0;
  for (const sim::RankProgram& program : programs) {
    all->emplace_back(sim::as_run_by(profile, sim::unfolded(program)));
    steps += all->back().length();
    if (steps > most_steps)
      fail(Fault::unsupported, "profile {}: {} different ranks take more than {} steps",
           profile.name, programs.size(), most_steps);
  }
  return all;
}

}  // namespace

std::vector<sim::RankSpans> spans_of(const sim::Simulated& simulated) {
  std::vector<sim::RankSpans> ranks;
  for (const sim::Timeline& timeline : simulated.timelines) {
    if (!timeline.kept) continue;
    sim::RankSpans rank{timeline.rank, timeline.members, {}, timeline.slowed_seconds};
    for (const sim::TimedStep& timed : timeline.steps) {
      const Step& step = *timed.step;
      if (step.kind == Step::Kind::look) continue;
      sim::Span span;
      span.op = step.op;
      if (step.kind == Step::Kind::start) span.kind = sim::Span::Kind::transfer;
      if (step.kind == Step::Kind::wait) span.kind = sim::Span::Kind::wait;
      if (step.kind != Step::Kind::kernel)
        span.lane = fmt::format("{}", sim::communicator_key(step.axes));
      span.sequence = timed.sequence;
      span.begin = timed.begin_seconds;
      span.end = timed.end_seconds;
      rank.spans.push_back(std::move(span));
    }
    ranks.push_back(std::move(rank));
  }
  return ranks;
}

Prediction predict(std::shared_ptr<const TracedRanks> traced, const Params& params,
                   const Mesh& mesh, const PredictOptions& options) {
  Prediction prediction;
  prediction.traced = std::move(traced);
  const int domain = std::max(1, static_cast<int>(options.machine.value("nvlink.domain")));
  const sim::Placement placement(mesh, domain);
  prediction.placement = placement.text();
  const sim::MachinePrices prices(options.machine, options.profile, params.precision.math,
                                  options.what_if, mesh.size());
  sim::Stragglers stragglers = options.stragglers;
  if (options.what_if.slow_rank != 1) stragglers.slowdown[0] = options.what_if.slow_rank;
  std::vector<sim::RankProgram> programs = prediction.traced->programs();
  if (options.profile.ring != sim::RingStyle()) {
    prediction.rewritten = rewritten(options.profile, programs);
    for (std::size_t p = 0; p < programs.size(); ++p) programs[p] = {&(*prediction.rewritten)[p]};
  }
  prediction.simulated =
      sim::simulate(placement, prediction.traced->program_of_rank, programs, prices, stragglers);
  judge(prediction, prices, options);
  for (std::size_t c = 0; c < prediction.traced->classes.size(); ++c) {
    const RankMeasure& rank = prediction.traced->classes[c];
    const std::vector<Step>& steps = prediction.traced->folded[c].steps();
    const sim::EngineMemory engine =
        sim::engine_memory(steps, static_cast<double>(rank.peak_bytes), rank.at_peak, params.train);
    sim::DeviceMemory memory =
        sim::device_memory(options.machine, options.profile, engine, steps, placement);
    if (memory.total > prediction.memory.total) prediction.memory = std::move(memory);
  }
  prediction.fit = sim::fit(options.machine, prediction.memory);
  return prediction;
}

Prediction predict(const Scenario& scenario, const Params& params, const Mesh& mesh,
                   const PredictOptions& options) {
  return predict(std::make_shared<const TracedRanks>(trace_ranks(scenario, params, mesh)), params,
                 mesh, options);
}

}  // namespace shardlab
