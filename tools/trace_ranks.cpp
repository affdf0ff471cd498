#include "tools/trace_ranks.h"

#include <cstring>

#include "engine/core/check.h"
#include "engine/core/communicator.h"
#include "tools/executions.h"

namespace shardlab {

std::vector<const Trace*> TracedRanks::traces() const {
  std::vector<const Trace*> pointers;
  for (const RankMeasure& each : classes) pointers.push_back(&each.trace);
  return pointers;
}

std::int64_t TracedRanks::bytes_received(const Mesh& mesh, int rank) const {
  const RankMeasure& traced = classes[of_rank[rank]];
  std::int64_t bytes = traced.totals.bytes_received;
  const Coordinates there = mesh.coordinates(first_rank[of_rank[rank]]);
  const Coordinates here = mesh.coordinates(rank);
  for (const Step& step : traced.trace.steps()) {
    if (step.kind != Step::Kind::start || std::strcmp(step.op, "all_reduce") != 0) continue;
    const auto received = [&](const Coordinates& at) {
      return all_reduce_bytes(step.bytes / width_of(step.dtype), step.dtype, mesh.size(step.axes),
                              mesh.position(step.axes, at));
    };
    bytes += received(here) - received(there);
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
  for (int rank = 0; rank < mesh.size(); ++rank) {
    const Coordinates at = mesh.coordinates(rank);
    int joined = -1;
    for (std::size_t c = 0; c < traced.classes.size() && joined < 0; ++c)
      if (traced.classes[c].answers.same_for(at)) joined = static_cast<int>(c);
    if (joined < 0) {
      options.launch.first_rank = rank;
      Measurement measurement = measure(meta, scenario, params, options);
      if (traced.classes.empty()) {
        traced.parameters = measurement.parameters;
        traced.notes = measurement.notes;
      }
      steps += measurement.ranks.front().trace.steps().size();
      if (steps > most_steps)
        fail(Fault::unsupported,
             "{} ranks: those up to rank {} do {} different things in {} steps, more than {} are "
             "not traced; parts that divide evenly are traced once",
             mesh.size(), rank, traced.classes.size() + 1, steps, most_steps);
      joined = static_cast<int>(traced.classes.size());
      traced.classes.push_back(std::move(measurement.ranks.front()));
      traced.first_rank.push_back(rank);
      traced.tables.push_back(std::move(measurement.tables.front()));
    }
    traced.of_rank.push_back(joined);
  }
  return traced;
}

}  // namespace shardlab
