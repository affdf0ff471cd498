#include "tools/gate_test_verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/core/check.h"
#include "results/gate_test.h"
#include "results/store.h"
#include "tools/json_text.h"
#include "tools/record.h"
#include "tools/record_noise.h"
#include "tools/table.h"

namespace shardlab {
namespace {

using results::GateQuestion;
using results::GateRate;

/// What the gate has to reach, and where.
struct Goal {
  double slowdown = 0;
  double rate = 0;
};
constexpr Goal most_alarms{0, 0.01};
constexpr Goal least_found{0.05, 0.90};
constexpr std::array slowdowns{0.01, 0.02, 0.05, 0.10};

/// All that was found out.
struct GateResult {
  RecordedNoise noise;
  double pair_spread = 0;           ///< Half the pairs differ by more than this part.
  std::vector<GateRate> resampled;  ///< A against A first.
  GateRate recorded;
};

double pair_spread(const results::Samples& pairs) {
  std::vector<double> parts;
  for (std::size_t i = 0; i < pairs.base.size(); ++i)
    parts.push_back(std::abs(pairs.next[i] / pairs.base[i] - 1));
  return results::median(parts);
}

GateResult try_gate(const Scenarios& scenarios, const GateTestOptions& options) {
  GateResult result;
  fmt::print(stderr, "recording {} against itself for {:.0f} s ...\n", options.scenario,
             options.seconds);
  result.noise = record_noise(
      scenarios, options.scenario,
      {.steps = options.steps, .seconds = options.seconds, .least_pairs = options.pairs});
  const results::Samples& pairs = result.noise.pairs;
  result.pair_spread = pair_spread(pairs);
  const GateQuestion question{
      .pairs = options.pairs, .reports = options.reports, .seed = options.seed};
  fmt::print(stderr, "resampling {} reports ...\n", options.reports * (1 + slowdowns.size()));
  result.resampled.push_back(results::resampled_rate(pairs, 0, question));
  for (const double slowdown : slowdowns)
    result.resampled.push_back(results::resampled_rate(pairs, slowdown, question));
  result.recorded = results::recorded_rate(pairs, 0, question);
  return result;
}

bool is_missed(const GateRate& rate) {
  if (rate.slowdown == most_alarms.slowdown) return rate.interval.low > most_alarms.rate;
  return rate.slowdown == least_found.slowdown && rate.interval.high < least_found.rate;
}

std::string goal_text(const GateRate& rate) {
  const auto share = static_cast<double>(rate.worse) / static_cast<double>(rate.reports);
  const char* state = is_missed(rate) ? "missed" : "undecided";
  if (rate.slowdown == most_alarms.slowdown)
    return fmt::format("at most {:.0f} %: {}", 100 * most_alarms.rate,
                       share <= most_alarms.rate ? "reached" : state);
  if (rate.slowdown != least_found.slowdown) return "";
  return fmt::format("at least {:.0f} %: {}", 100 * least_found.rate,
                     share >= least_found.rate ? "reached" : state);
}

std::vector<std::string> cells_of(const GateRate& rate, const std::string& what, bool with_goal) {
  const auto count = static_cast<double>(rate.reports);
  return {what,
          fmt::format("{}", rate.reports),
          fmt::format("{}", rate.worse),
          fmt::format("{:.2f} %", 100 * static_cast<double>(rate.worse) / count),
          fmt::format("{:.2f} .. {:.2f} %", 100 * rate.interval.low, 100 * rate.interval.high),
          fmt::format("{}", rate.better),
          with_goal ? goal_text(rate) : ""};
}

void print(const GateResult& result, const GateTestOptions& options) {
  const RecordedNoise& noise = result.noise;
  fmt::print("shardlab {}\n", noise.command);
  fmt::print("against itself: a step of {}, blocks of {} steps, {} pairs a report\n",
             show_seconds(noise.step_seconds), options.steps, options.pairs);
  fmt::print("recorded: {} pairs; half of them differ by more than {}\n\n", noise.pairs.base.size(),
             show_percent(result.pair_spread));
  Table table({"the new side is", "reports", "slower", "rate", "95 % interval", "faster", "goal"});
  for (const GateRate& rate : result.resampled)
    table.row(cells_of(rate,
                       rate.slowdown == 0 ? "the same, resampled"
                                          : fmt::format("{:.0f} % slower", 100 * rate.slowdown),
                       true));
  table.row(cells_of(result.recorded, "the same, as recorded", false));
  fmt::print("{}", table.text());
  if (std::ranges::any_of(result.resampled, [](const GateRate& rate) {
        return rate.slowdown > 0 && is_missed(rate);
      }))
    fmt::print("more is found with longer blocks (--steps) or more of them (--pairs)\n");
  fmt::print(
      "intervals are those of the reports; all were drawn from one recording, which holds {}\n",
      result.recorded.reports);
}

std::string json_of(const GateResult& result, const GateTestOptions& options) {
  const auto rate_of = [](const GateRate& rate) {
    return nlohmann::ordered_json{{"slowdown", rate.slowdown}, {"reports", rate.reports},
                                  {"worse", rate.worse},       {"better", rate.better},
                                  {"low", rate.interval.low},  {"high", rate.interval.high}};
  };
  nlohmann::ordered_json json{{"scenario", options.scenario},
                              {"pairs", options.pairs},
                              {"step_seconds", result.noise.step_seconds},
                              {"steps", options.steps},
                              {"command", result.noise.command},
                              {"recorded_pairs", result.noise.pairs.base.size()},
                              {"pair_spread", result.pair_spread},
                              {"resampled", nlohmann::ordered_json::array()},
                              {"recorded", rate_of(result.recorded)}};
  for (const GateRate& rate : result.resampled) json["resampled"].push_back(rate_of(rate));
  return json_text(json);
}

void add_rate(results::Rows& rows, const std::string& name, results::Better better,
              const GateRate& rate, const std::string& source) {
  const results::Metric metric{.name = name, .unit = "1", .better = better};
  const double share = static_cast<double>(rate.worse) / static_cast<double>(rate.reports);
  rows.metrics.push_back({metric, {{.value = share}}});
  rows.uncertainties.push_back({metric, rate.interval.low, rate.interval.high, 0.95, source});
}

void store(const GateResult& result, const Case& tested, const Request& request,
           const GateTestOptions& options, results::Store& store) {
  results::RunHeader header = header_of(tested, "cpu", request);
  header.series.parameters = nlohmann::json{
      {"of", options.scenario},
      {"pairs", options.pairs},
      {"steps", options.steps}}.dump();
  header.series.scenario = "gate-test";
  results::Rows rows;
  const auto add_blocks = [&](const char* name, const std::vector<double>& seconds) {
    results::MetricSamples blocks{{.name = name, .unit = "s"}, {}};
    for (std::size_t i = 0; i < seconds.size(); ++i)
      blocks.samples.push_back({.iteration = static_cast<std::int64_t>(i), .value = seconds[i]});
    rows.metrics.push_back(std::move(blocks));
  };
  add_blocks("base_seconds", result.noise.pairs.base);
  add_blocks("new_seconds", result.noise.pairs.next);
  for (const GateRate& rate : result.resampled) {
    const std::string source = fmt::format("{} resampled reports", rate.reports);
    if (rate.slowdown == 0)
      add_rate(rows, "false_alarms", results::Better::lower, rate, source);
    else
      add_rate(rows, fmt::format("found.{:.0f}_percent", 100 * rate.slowdown),
               results::Better::higher, rate, source);
  }
  const results::RunId run = store.start_run(header);
  store.append(run, rows);
  store.finish_run(run, results::RunStatus::complete);
  fmt::print(stderr, "stored as run {} of {}\n", run.value, options.database);
}

}  // namespace

Exit gate_test_verb(const Scenarios& scenarios, const GateTestOptions& options) {
  check(options.pairs >= 1, "--pairs: {}; at least 1 is needed", options.pairs);
  check(options.reports >= 1, "--reports: {}; at least 1 is needed", options.reports);
  check(options.steps >= 1, "--steps: {}; at least 1 is needed", options.steps);
  check(options.seconds >= 0, "--seconds: {}, which is negative", options.seconds);
  Request request;
  request.names = {options.scenario};
  request.preset = "tiny";
  request.meshes = {Mesh({{"domain", 1}})};
  request.command_line = options.command_line;
  const Case tested = sweep(scenarios, request).at(0);
  // A file that cannot be written is refused before minutes of recording.
  results::Store database(options.database);
  const GateResult result = try_gate(scenarios, options);
  store(result, tested, request, options, database);
  if (options.json)
    fmt::print("{}\n", json_of(result, options));
  else
    print(result, options);
  return std::ranges::any_of(result.resampled, is_missed) ? Exit::failed : Exit::fine;
}

}  // namespace shardlab
