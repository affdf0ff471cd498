#include "results/json.h"

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "engine/core/check.h"

namespace shardlab::results {
namespace {

using Json = nlohmann::json;

// Writing takes the stack of one call a level.
constexpr int most_levels = 100;

// Text of a run that was not stored by us may be no JSON.
Json parsed(const std::string& text) {
  bool deep = false;
  const auto note_depth = [&](int depth, Json::parse_event_t, Json&) {
    deep = deep || depth > most_levels;
    return true;
  };
  Json json = Json::parse(text, note_depth, false);
  return json.is_discarded() || deep ? Json(text) : json;
}

Json json_of(const Metric& metric) {
  return {{"name", metric.name},
          {"unit", metric.unit},
          {"exact", metric.exact},
          {"better", name_of(metric.better)},
          {"across_ranks", name_of(metric.across_ranks)}};
}

Json json_of(const MetricSamples& samples) {
  Json json = json_of(samples.metric);
  json["samples"] = Json::array();
  for (const Sample& s : samples.samples)
    json["samples"].push_back(
        {{"iteration", s.iteration}, {"rank", s.rank}, {"warmup", s.warmup}, {"value", s.value}});
  return json;
}

Json json_of(const Check& check) {
  return {{"name", check.name},
          {"error", check.error},
          {"bound", check.bound},
          {"passed", check.passed()}};
}

Json json_of(const Uncertainty& uncertainty) {
  return {{"metric", uncertainty.metric.name},
          {"low", uncertainty.low},
          {"high", uncertainty.high},
          {"coverage", uncertainty.coverage},
          {"source", uncertainty.source}};
}

Json json_of(const Fold& fold) {
  return {{"rank", fold.rank}, {"ranks", fold.ranks}, {"members", fold.members}};
}

Json json_of(const SeriesKey& key) {
  return {{"scenario", key.scenario},
          {"parameters", parsed(key.parameters)},
          {"dtype", key.dtype},
          {"train", key.train},
          {"mesh", key.mesh},
          {"ranks", ranks_of(key.mesh)},
          {"execution", name_of(key.execution)},
          {"machine", key.machine},
          {"profile", key.profile},
          {"hash", hash_of(key)}};
}

template <typename T>
Json array_of(const std::vector<T>& values) {
  Json json = Json::array();
  for (const T& value : values) json.push_back(json_of(value));
  return json;
}

}  // namespace

std::string canonical_json(std::string_view text, const char* what) {
  std::vector<std::set<std::string>> keys;  // of every object that is open
  std::string repeated;
  const auto note_keys = [&](int depth, Json::parse_event_t event, Json& value) {
    check(depth <= most_levels, "{}: JSON of more than {} levels", what, most_levels);
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value).second)
      repeated = value.get<std::string>();
    return true;
  };
  try {
    const auto json = Json::parse(text, note_keys);
    check(json.is_object(), "{}: expected a JSON object, found {}", what, text);
    check(repeated.empty(), "{}: key '{}' appears twice in {}", what, repeated, text);
    return json.dump();
  } catch (const Json::exception& error) {
    fail(Fault::invalid, "{}: expected a JSON object, found {} ({})", what, text, error.what());
  }
}

std::string to_json(const StoredRun& run) {
  const RunHeader& header = run.header;
  const Json json = {{"id", run.id.value},
                     {"uuid", run.uuid},
                     {"status", name_of(run.status)},
                     {"reason", run.reason},
                     {"series", json_of(header.series)},
                     {"environment", parsed(text_of(header.environment))},
                     {"environment_hash", hash_of(header.environment)},
                     {"created", header.created},
                     {"commit", header.commit},
                     {"branch", header.branch},
                     {"dirty", header.dirty},
                     {"oversubscribed", header.oversubscribed},
                     {"seed", header.seed},
                     {"source", header.source},
                     {"command", header.command},
                     {"variables", parsed(header.variables)},
                     {"state", parsed(header.state)},
                     {"layouts", header.layouts},
                     {"metrics", array_of(run.rows.metrics)},
                     {"checks", array_of(run.rows.checks)},
                     {"uncertainties", array_of(run.rows.uncertainties)},
                     {"folds", array_of(run.rows.folds)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace shardlab::results
