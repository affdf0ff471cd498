#include "tools/exact.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "engine/core/check.h"
#include "tools/measure.h"
#include "tools/record.h"
#include "tools/request.h"

namespace shardlab {
namespace {

std::string without_numbers(const std::string* scope) {
  std::string text;
  if (scope == nullptr) return text;
  for (const char c : *scope) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit)
      text += c;
    else if (!text.ends_with('*'))
      text += '*';
  }
  return text;
}

std::vector<ExactPart> parts_of(const Measurement& measurement) {
  std::map<std::tuple<std::string, bool, std::string>, ExactPart> parts;
  for (const RankMeasure& rank : measurement.ranks)
    for (const Step& step : rank.trace.steps()) {
      if (step.kind == Step::Kind::wait) continue;
      const bool moves = step.kind == Step::Kind::start;
      std::string scope = without_numbers(step.scope);
      ExactPart& part = parts[{scope, moves, step.op}];
      part.scope = std::move(scope);
      part.op = step.op;
      part.moves = moves;
      ++part.calls;
      if (moves) part.bytes += step.bytes;
      part.flop += step.flop;
    }
  std::vector<ExactPart> all;
  for (auto& [key, part] : parts) all.push_back(std::move(part));
  return all;
}

std::string highest_of(const Measurement& measurement) {
  const Step* highest = nullptr;
  for (const RankMeasure& rank : measurement.ranks)
    for (const Step& step : rank.trace.steps())
      if (highest == nullptr || step.live_bytes > highest->live_bytes) highest = &step;
  if (highest == nullptr) return "set-up";
  const std::string scope = without_numbers(highest->scope);
  return scope.empty() ? highest->op : fmt::format("{} in {}", highest->op, scope);
}

std::vector<std::pair<std::string, std::int64_t>> quantities_of(const Measurement& measurement) {
  std::vector<std::pair<std::string, std::int64_t>> quantities;
  for (const results::MetricSamples& each : rows_of(measurement).metrics) {
    if (!each.metric.exact) continue;
    double value = 0;
    for (const results::Sample& sample : each.samples)
      value = each.metric.across_ranks == results::AcrossRanks::sum ? value + sample.value
                                                                    : std::max(value, sample.value);
    quantities.emplace_back(each.metric.name, static_cast<std::int64_t>(value));
  }
  return quantities;
}

std::vector<Case> cases_of(const Scenarios& scenarios, const Scenario& scenario, bool train) {
  Request request;
  request.names = {scenario.name};
  request.preset = "tiny";
  request.train = train;
  for (const char* mesh : {"domain=1", "domain=2", "domain=3", "data=2,domain=2"})
    request.meshes.push_back(Mesh::parse(mesh));
  for (const Switch& each : exact_switches())
    if (scenario.preset("tiny").has(each.name))
      request.values[each.name] = fmt::format("{}", fmt::join(each.values, ","));
  return sweep(scenarios, request);
}

ExactSeries series_of(const Case& tested, const Execution& execution) {
  MeasureOptions options;
  options.launch.mesh = tested.mesh;
  options.launch.precision = tested.params.precision;
  options.iterations = 1;
  options.timeline = true;
  const Measurement measurement = measure(execution, *tested.scenario, tested.params, options);
  ExactSeries series;
  series.key.scenario = tested.scenario->name;
  series.key.train = tested.params.train;
  series.key.mesh = tested.mesh.text();
  nlohmann::json switches = nlohmann::json::object();
  for (const Switch& each : exact_switches())
    if (tested.params.has(each.name)) switches[each.name] = tested.params.text(each.name);
  series.key.parameters = switches.dump();
  series.quantities = quantities_of(measurement);
  series.highest = highest_of(measurement);
  series.parts = parts_of(measurement);
  return series;
}

}  // namespace

const std::vector<Switch>& exact_switches() {
  static const std::vector<Switch> switches{{"checkpoint", {"none", "blocks"}},
                                            {"storage", {"whole", "sharded"}}};
  return switches;
}

std::vector<ExactSeries> exact_series(const Scenarios& scenarios, const Execution& execution) {
  std::vector<ExactSeries> all;
  for (const auto& [name, scenario] : scenarios.all())
    for (const bool train : {false, true})
      for (const Case& tested : cases_of(scenarios, scenario, train)) try {
          all.push_back(series_of(tested, execution));
        } catch (const Error& error) {
          if (error.fault() != Fault::unsupported) throw;
        }
  return all;
}

std::string exact_title(const results::SeriesKey& key) {
  std::string text =
      fmt::format("{}, {}, {}", key.scenario, key.train ? "training" : "inference", key.mesh);
  const nlohmann::json switches = nlohmann::json::parse(key.parameters);
  for (const auto& [name, value] : switches.items())
    text += fmt::format(", {}={}", name, value.get<std::string>());
  return text;
}

}  // namespace shardlab
