#include "tools/record_noise.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "engine/core/trace.h"
#include "results/statistics.h"
#include "tools/measure.h"

namespace shardlab {
namespace {

/// Seconds of consecutive iterations on the slowest rank, warm-up left out.
std::vector<double> seconds_of(const Execution& execution, const Case& tested, int iterations) {
  MeasureOptions options;
  options.launch.mesh = tested.mesh;
  options.launch.precision = tested.params.precision;
  options.launch.seed = tested.params.seed;
  options.iterations = iterations;
  const Measurement measurement = measure(execution, *tested.scenario, tested.params, options);
  std::vector<double> seconds(static_cast<std::size_t>(iterations), 0);
  for (const RankMeasure& rank : measurement.ranks)
    for (std::size_t i = 0; i < seconds.size(); ++i)
      seconds[i] =
          std::max(seconds[i], rank.seconds[i + static_cast<std::size_t>(measurement.warmup)]);
  return seconds;
}

std::vector<double> steps_of(const std::vector<double>& seconds, int iterations) {
  const auto size = static_cast<std::size_t>(iterations);
  std::vector<double> steps(seconds.size() / size, 0);
  for (std::size_t i = 0; i < steps.size() * size; ++i) steps[i / size] += seconds[i];
  return steps;
}

/// How many iterations take as long as a step has to.
int iterations_of_step(const Execution& execution, const Case& tested, double step_seconds) {
  (void)seconds_of(execution, tested, 3);
  const double one = results::median(seconds_of(execution, tested, 20));
  return std::max(1, static_cast<int>(std::lround(step_seconds / std::max(one, 1e-9))));
}

}  // namespace

RecordedNoise record_noise(const Execution& execution, const Case& tested,
                           const NoiseOptions& options) {
  RecordedNoise noise;
  noise.iterations = iterations_of_step(execution, tested, options.step_seconds);
  const double begin = Trace::now_seconds();
  while (static_cast<std::int64_t>(noise.blocks.size()) < options.least_blocks ||
         Trace::now_seconds() - begin < options.seconds) {
    const auto seconds = seconds_of(execution, tested, noise.iterations * options.steps);
    noise.blocks.push_back(results::median(steps_of(seconds, noise.iterations)));
  }
  noise.step_seconds = results::median(noise.blocks);
  return noise;
}

}  // namespace shardlab
