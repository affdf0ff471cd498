#include "results/series.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "results/digest.h"
#include "results/json.h"
#include "results/names.h"

namespace shardlab::results {
namespace {

using Json = nlohmann::json;

constexpr std::array execution_names = {"cpu", "cuda", "predict", "published"};

constexpr auto npos = std::string_view::npos;

// Any text becomes valid JSON; bytes that are no UTF-8 are replaced.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

const char* name_of(Execution execution) {
  return execution_names.at(static_cast<std::size_t>(execution));
}

Execution execution_from(std::string_view name) {
  return enum_from<Execution>(execution_names, name, "execution");
}

SeriesKey canonical(SeriesKey key) {
  check(!key.scenario.empty(), "series: the scenario has no name");
  key.parameters = canonical_json(key.parameters, "parameters");
  static_cast<void>(ranks_of(key.mesh));
  const bool measured = key.execution == Execution::cpu || key.execution == Execution::cuda;
  check(!measured || key.machine.empty(),
        "series {}: machine '{}' given, but a measured run names no machine", key.scenario,
        key.machine);
  check(key.execution != Execution::predict || !key.machine.empty(),
        "series {}: a predicted run names its machine", key.scenario);
  return key;
}

SeriesKey without_mesh(SeriesKey key) {
  key.mesh.clear();
  return key;
}

bool is_weak(const SeriesKey& key) {
  const auto parameters = Json::parse(key.parameters, nullptr, false);
  return parameters.is_object() && parameters.contains("scaling") &&
         parameters["scaling"] == "weak";
}

std::int64_t ranks_of(std::string_view mesh) {
  std::int64_t ranks = 1;
  std::set<std::string_view> names;
  for (std::string_view rest = mesh; names.empty() || !rest.empty();) {
    const auto comma = rest.find(',');
    const auto axis = rest.substr(0, comma);
    const auto equals = axis.find('=');
    std::int64_t size = 0;
    const auto* end = axis.data() + axis.size();
    const bool is_well_formed = equals != npos && equals > 0 &&
                                std::from_chars(axis.data() + equals + 1, end, size).ptr == end &&
                                size > 0 && (comma == npos || comma + 1 < rest.size());
    check(is_well_formed, "mesh '{}': expected NAME=RANKS with commas between, found '{}'", mesh,
          axis);
    check(names.insert(axis.substr(0, equals)).second, "mesh '{}': axis '{}' appears twice", mesh,
          axis.substr(0, equals));
    check(size <= std::numeric_limits<std::int32_t>::max() / ranks, "mesh '{}': more than {} ranks",
          mesh, std::numeric_limits<std::int32_t>::max());
    ranks *= size;
    rest = comma == npos ? std::string_view() : rest.substr(comma + 1);
  }
  return ranks;
}

Fields fields_of(const SeriesKey& key) {
  return {{"scenario", key.scenario}, {"parameters", key.parameters},
          {"dtype", key.dtype},       {"train", key.train ? "true" : "false"},
          {"mesh", key.mesh},         {"execution", name_of(key.execution)},
          {"machine", key.machine},   {"profile", key.profile}};
}

Fields fields_of(const EnvironmentKey& key) {
  return {{"processor", key.processor},       {"isa", key.isa},
          {"build_type", key.build_type},     {"compiler", key.compiler},
          {"libraries", dump(key.libraries)}, {"topology", key.topology}};
}

std::vector<std::string> differences(const Fields& a, const Fields& b) {
  expect(a.size() == b.size(), "keys of different kinds: {} and {} fields", a.size(), b.size());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].second != b[i].second) names.push_back(a[i].first);
  }
  return names;
}

std::string text_of(const SeriesKey& key) {
  std::vector<std::string> values;
  for (const auto& [name, value] : fields_of(key)) values.push_back(value);
  return dump(values);
}

std::string text_of(const EnvironmentKey& key) {
  return dump({{"processor", key.processor},
               {"isa", key.isa},
               {"build_type", key.build_type},
               {"compiler", key.compiler},
               {"libraries", key.libraries},
               {"topology", key.topology}});
}

EnvironmentKey environment_from(std::string_view text) {
  try {
    const auto json = Json::parse(text);
    return {json.at("processor"), json.at("isa"),       json.at("build_type"),
            json.at("compiler"),  json.at("libraries"), json.at("topology")};
  } catch (const Json::exception& error) {
    fail(Fault::external, "environment: {}: {}", error.what(), text);
  }
}

std::string hash_of(const SeriesKey& key) { return digest(text_of(key)); }
std::string hash_of(const EnvironmentKey& key) { return digest(text_of(key)); }

}  // namespace shardlab::results
