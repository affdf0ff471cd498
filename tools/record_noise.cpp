#include "tools/record_noise.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "engine/core/check.h"
#include "engine/core/trace.h"
#include "results/compare_series.h"
#include "results/statistics.h"
#include "tools/ab.h"
#include "tools/executions.h"
#include "tools/interleave.h"
#include "tools/measure.h"

namespace shardlab {
namespace {

Case case_of(const Scenarios& scenarios, const std::string& scenario, const std::string& batch) {
  Request request;
  request.names = {scenario};
  request.preset = "tiny";
  request.meshes = {Mesh({{"domain", 1}})};
  if (!batch.empty()) request.values["batch"] = batch;
  return sweep(scenarios, request).at(0);
}

double seconds_of(const Case& tested) {
  MeasureOptions options;
  options.launch.mesh = tested.mesh;
  options.launch.precision = tested.params.precision;
  options.launch.seed = tested.params.seed;
  options.warmup = 3;
  return results::median(
      slowest(measure(cpu_execution(), *tested.scenario, tested.params, options)));
}

std::int64_t batch_of(const Case& tested) {
  const auto values = tested.params.all();
  const auto found = values.find("batch");
  std::int64_t batch = 0;
  if (found != values.end())
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), batch);
  if (batch < 1)
    fail(Fault::unsupported, "{} has no batch that could make its steps longer",
         tested.scenario->name);
  return batch;
}

/// How large a batch makes a step that long.
std::int64_t batch_for(const Scenarios& scenarios, const std::string& scenario, double seconds) {
  Case tested = case_of(scenarios, scenario, "");
  std::int64_t batch = batch_of(tested);
  // Once more from near by: a small batch costs more a sequence.
  for (int look = 0; look < 2; ++look) {
    const double one = seconds_of(tested) / static_cast<double>(batch);
    batch = std::max<std::int64_t>(1, std::llround(seconds / std::max(one, 1e-9)));
    tested = case_of(scenarios, scenario, fmt::to_string(batch));
  }
  return batch;
}

results::Samples pairs_of(const Ab& ab) {
  const results::Side a = ab.side(0), b = ab.side(1);
  std::vector<std::string> notes;
  const auto base = results::series_of(a, notes), next = results::series_of(b, notes);
  const results::Sides sides{a, b, {}};
  const auto joined = results::join(base, next, {});
  return results::samples_of(results::comparable_runs(joined.at(0), sides), sides,
                             results::step_seconds().name);
}

}  // namespace

RecordedNoise record_noise(const Scenarios& scenarios, const std::string& scenario,
                           const NoiseOptions& options) {
  RecordedNoise noise;
  noise.command =
      fmt::format("run {} --preset tiny --batch {} --iterations {} --no-timeline", scenario,
                  batch_for(scenarios, scenario, options.step_seconds), options.steps);
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = fmt::format("'{}' {}", program, noise.command);
  Ab ab({.commands = {command, command}});
  const double begin = Trace::now_seconds();
  for (std::int64_t pairs = 0;
       pairs < options.least_pairs || Trace::now_seconds() - begin < options.seconds; ++pairs)
    ab.run_pair();
  check(ab.took_turns(), "{}: is not called shardlab, so that it takes no turns with itself",
        program);
  noise.pairs = pairs_of(ab);
  noise.step_seconds = results::median(noise.pairs.base);
  return noise;
}

}  // namespace shardlab
