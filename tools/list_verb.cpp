#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/core/check.h"
#include "tools/machine_text.h"
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

std::string scenarios_json(const Scenarios& scenarios) {
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
  return json.dump(2);
}

/// Prints what is no scenario; says whether it was that.
bool print_other(const std::string& what, bool json) {
  if (what == "machines")
    fmt::print("{}{}", json ? machines_json() : machines_text(),
               json ? "\n" : "\nshardlab show machine NAME shows every number with its source\n");
  else if (what == "profiles")
    fmt::print("{}{}", json ? profiles_json() : profiles_text(), json ? "\n" : "");
  else
    return false;
  return true;
}

void check_known(const Scenarios& scenarios, const std::string& word) {
  std::vector<std::string> known{"machines", "profiles"};
  for (const auto& [name, scenario] : scenarios.all()) known.push_back(name);
  check(std::find(known.begin(), known.end(), word) != known.end(),
        "list {}: neither a scenario nor machines nor profiles: did you mean '{}'?", word,
        nearest(word, known));
}

}  // namespace

Exit list_verb(const Scenarios& scenarios, const Request& request) {
  for (const std::string& name : request.names) check_known(scenarios, name);
  if (request.json && (request.names.empty() || scenarios.all().contains(request.names[0]))) {
    fmt::print("{}\n", scenarios_json(scenarios));
    return Exit::fine;
  }
  for (const std::string& name : request.names)
    if (!print_other(name, request.json)) print_scenario(scenarios.find(name));
  if (!request.names.empty()) return Exit::fine;
  Table table({"scenario", "what it is"});
  for (const auto& [name, scenario] : scenarios.all()) table.row({name, scenario.summary});
  fmt::print("{}\nshardlab list SCENARIO shows its parameters; `list machines`, `list profiles`\n",
             table.text());
  return Exit::fine;
}

}  // namespace shardlab
