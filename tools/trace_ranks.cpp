#include "tools/trace_ranks.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "engine/core/check.h"
#include "engine/core/communicator.h"
#include "tools/executions.h"

namespace shardlab {
namespace {

std::vector<TracedRanks::Sums> sums_of(const Trace& trace) {
  std::vector<TracedRanks::Sums> all;
  for (const Step& step : trace.steps()) {
    if (step.kind != Step::Kind::start || std::strcmp(step.op, "all_reduce") != 0) continue;
    const std::int64_t elements = step.bytes / width_of(step.dtype);
    const auto known = std::find_if(all.begin(), all.end(), [&](const TracedRanks::Sums& sums) {
      return sums.axes == step.axes && sums.dtype == step.dtype && sums.elements == elements;
    });
    if (known == all.end())
      all.push_back({step.axes, step.dtype, elements, 1});
    else
      ++known->calls;
  }
  return all;
}

}  // namespace

std::vector<sim::RankProgram> TracedRanks::programs() const {
  std::vector<sim::RankProgram> all;
  for (std::size_t p = 0; p < orders.size(); ++p)
    all.push_back({&folded[class_of_program[p]], &orders[p]});
  return all;
}

std::int64_t TracedRanks::bytes_received(const Mesh& mesh, int rank) const {
  const int its_class = of_rank[rank];
  std::int64_t bytes = classes[its_class].totals.bytes_received;
  const Coordinates there = mesh.coordinates(first_rank[its_class]);
  const Coordinates here = mesh.coordinates(rank);
  for (const Sums& each : sums[its_class]) {
    const auto received = [&](const Coordinates& at) {
      return all_reduce_bytes(each.elements, each.dtype, mesh.size(each.axes),
                              mesh.position(each.axes, at));
    };
    bytes += each.calls * (received(here) - received(there));
  }
  return bytes;
}

TracedRanks trace_ranks(const Scenario& scenario, const Params& params, const Mesh& mesh,
                        std::size_t most_steps) {
  TracedRanks traced;
  std::size_t steps = 0;
  MeasureOptions options;
  options.launch.mesh = mesh;
  options.launch.precision = params.precision;
  options.launch.seed = params.seed;
  options.launch.ranks = 1;
  options.iterations = 1;
  options.timeline = true;
  const Execution meta = meta_execution();
  std::vector<sim::TurnKinds> kinds;
  std::map<std::pair<int, sim::TurnOrders>, int> programs;
  for (int rank = 0; rank < mesh.size(); ++rank) {
    const Coordinates at = mesh.coordinates(rank);
    int joined = -1;
    for (std::size_t c = 0; c < traced.classes.size() && joined < 0; ++c)
      if (traced.classes[c].answers.same_but_for_order(at)) joined = static_cast<int>(c);
    if (joined < 0) {
      options.launch.first_rank = rank;
      Measurement measurement = measure(meta, scenario, params, options);
      if (traced.classes.empty()) {
        traced.parameters = measurement.parameters;
        traced.notes = measurement.notes;
      }
      RankMeasure& first = measurement.ranks.front();
      steps += first.trace.steps().size();
      if (steps > most_steps)
        fail(Fault::unsupported,
             "{} ranks: those up to rank {} do {} different things in {} steps, more than {} are "
             "not traced; parts that divide evenly are traced once",
             mesh.size(), rank, traced.classes.size() + 1, steps, most_steps);
      joined = static_cast<int>(traced.classes.size());
      kinds.emplace_back(first.answers, at);
      traced.folded.emplace_back(first.trace, kinds.back().orders(first.answers, at));
      traced.sums.push_back(sums_of(first.trace));
      (void)first.trace.take_steps();
      traced.classes.push_back(std::move(first));
      traced.first_rank.push_back(rank);
      traced.tables.push_back(std::move(measurement.tables.front()));
    }
    traced.of_rank.push_back(joined);
    std::pair program(joined, kinds[joined].orders(traced.classes[joined].answers, at));
    const auto [known, first] =
        programs.emplace(std::move(program), static_cast<int>(traced.orders.size()));
    if (first) {
      traced.orders.push_back(known->first.second);
      traced.class_of_program.push_back(joined);
    }
    traced.program_of_rank.push_back(known->second);
  }
  return traced;
}

}  // namespace shardlab
