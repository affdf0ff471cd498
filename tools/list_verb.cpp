#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/request.h"
#include "tools/table.h"

namespace shardlab {
namespace {

void print_scenario(const Scenario& scenario) {
  fmt::print("{}: {}\n\n", scenario.name, scenario.summary);
  Table table({"parameter", "paper", "small", "tiny", "weak scaling", "meaning"});
  for (const ParamSpec& spec : scenario.params)
    table.row({"--" + spec.name, spec.paper, spec.small, spec.tiny,
               spec.grows_with.empty() ? "" : "times " + spec.grows_with, spec.help});
  fmt::print("{}", table.text());
  Table work({"preset", "forward", "training step"});
  for (const char* preset : {"paper", "small", "tiny"}) {
    const double flop = scenario.forward_flop(scenario.preset(preset));
    work.row({preset, show_flop(flop), show_flop(3 * flop)});
  }
  fmt::print("\n{}\nshardlab run {} --preset small --ranks 1,2 --train --check\n", work.text(),
             scenario.name);
}

}  // namespace

Exit list_verb(const Scenarios& scenarios, const Request& request) {
  if (request.json) {
    nlohmann::json json = nlohmann::json::array();
    for (const auto& [name, scenario] : scenarios.all()) {
      nlohmann::json params = nlohmann::json::array();
      for (const ParamSpec& spec : scenario.params)
        params.push_back({{"name", spec.name},
                          {"help", spec.help},
                          {"paper", spec.paper},
                          {"small", spec.small},
                          {"tiny", spec.tiny}});
      json.push_back({{"name", name}, {"summary", scenario.summary}, {"parameters", params}});
    }
    fmt::print("{}\n", json.dump(2));
    return Exit::fine;
  }
  if (!request.names.empty()) {
    for (const std::string& name : request.names) print_scenario(scenarios.find(name));
    return Exit::fine;
  }
  Table table({"scenario", "what it is"});
  for (const auto& [name, scenario] : scenarios.all()) table.row({name, scenario.summary});
  fmt::print("{}\nshardlab list SCENARIO shows its parameters\n", table.text());
  return Exit::fine;
}

}  // namespace shardlab
