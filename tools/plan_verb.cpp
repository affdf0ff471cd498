#include "tools/plan_verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/core/check.h"
#include "tools/json_text.h"
#include "tools/plan_text.h"
#include "tools/strategies.h"

namespace shardlab {
namespace {

std::vector<sim::Offload> offloads_of(const Request& request, const PlanRequest& typed,
                                      const sim::Machine& machine) {
  std::vector<sim::Offload> offloads;
  std::string_view rest = typed.offload;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    const sim::Offload offload = sim::parse_offload(part);
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    if (!offload.any()) continue;
    check(request.train,
          "--offload {}: inference keeps nothing that could wait in host memory; "
          "add --train",
          part);
    // Fails with the name of what is missing.
    (void)sim::host_link(machine, 1);
    offloads.push_back(offload);
  }
  if (typed.offload.empty() && request.train && machine.has("host.copy_bandwidth"))
    for (const sim::Offload& offload : sim::all_offloads())
      if (offload.any()) offloads.push_back(offload);
  return offloads;
}

PlanOptions options_of(const Request& request, const PlanRequest& typed) {
  check(!typed.machine.empty(),
        "plan needs --machine, such as dgx-h100:8; `shardlab list machines` names them");
  check(typed.max_ranks >= 1, "--max-ranks: {} ranks; at least 1 is needed", typed.max_ranks);
  check(request.names.size() == 1, "plan: one scenario at a time, got {}", request.names.size());
  check(request.scaling == Scaling::strong,
        "plan compares meshes that do the same work; --scaling weak gives each its own");
  const NamedMachine named = machine_named(typed.machine, request.database);
  PlanOptions options;
  options.predict.machine = named.machine;
  options.predict.profile = sim::find_profile(typed.profile);
  options.objective = parse_objective(typed.objective);
  if (!typed.memory.empty())
    options.predict.machine.numbers["gpu.memory"] = {parse_bytes(typed.memory),
                                                     sim::Source::user_measured, "--memory", 0.0};
  options.max_ranks = typed.max_ranks;
  if (named.hosts > 0)
    options.max_ranks =
        std::min(options.max_ranks,
                 named.hosts * static_cast<int>(options.predict.machine.value("host.gpus")));
  options.offloads = offloads_of(request, typed, options.predict.machine);
  return options;
}

/// Prints one problem after the other; says whether each has something that fits.
template <typename Problems, typename Text, typename Json>
Exit print(const Problems& problems, bool json, Text text_of, Json json_of) {
  Exit exit = Exit::fine;
  nlohmann::json all = nlohmann::json::array();
  for (const auto& each : problems) {
    if (!each.any_fits()) exit = Exit::failed;
    if (json)
      all.push_back(json_of(each));
    else
      fmt::print("{}{}", &each == &problems.front() ? "" : "\n\n", text_of(each));
  }
  if (json) fmt::print("{}\n", json_text(all));
  return exit;
}

}  // namespace

double parse_bytes(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const std::map<std::string_view, double> units{
      {"B", 1}, {"MB", 1e6}, {"GB", 1e9}, {"MiB", 0x1p20}, {"GiB", 0x1p30}};
  check(error == std::errc() && value > 0 && units.contains(unit),
        "--memory {}: expected a size such as 80GiB (MB, GB, MiB, GiB)", text);
  return value * units.at(unit);
}

Exit plan_verb(const Scenarios& scenarios, const Request& request, const PlanRequest& typed) {
  const PlanOptions options = options_of(request, typed);
  const PlanTitle title{request, typed.machine};
  if (typed.strategies)
    return print(
        compare_strategies(scenarios, request, options), request.json,
        [&](const Strategies& each) { return strategies_text(each, title, options); },
        [&](const Strategies& each) { return strategies_json(each, title, options); });
  return print(
      search_plans(scenarios, request, options), request.json,
      [&](const Planned& each) { return plan_text(each, title, options); },
      [&](const Planned& each) { return plan_json(each, title, options); });
}

}  // namespace shardlab
