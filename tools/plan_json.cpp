#include <nlohmann/json.hpp>

#include "tools/plan_text.h"

namespace shardlab {

nlohmann::json plan_json(const Proposal& plan) {
  nlohmann::json json{{"mesh", plan.mesh.text()},
                      {"ranks", plan.mesh.size()},
                      {"dtype", name_of(plan.params.precision)},
                      {"offload", sim::name_of(plan.offload)},
                      {"predicted_only", plan.offload.any()},
                      {"fits", plan.fits()}};
  for (const auto& [name, value] : plan.params.all())
    if (is_switch(name)) json[name] = value;
  if (!plan.fits()) json["reason"] = why_not(plan);
  if (!plan.predicted()) return json;
  json["seconds"] = plan.seconds;
  json["seconds_low"] = plan.seconds * (1 - plan.half_width);
  json["seconds_high"] = plan.seconds * (1 + plan.half_width);
  json["device_bytes"] = plan.device_bytes;
  json["over_bytes"] = plan.over_bytes;
  json["host_bytes"] = plan.host_bytes;
  json["device_hours_per_1000_steps"] = plan.hours();
  json["extrapolated"] = plan.extrapolated;
  json["undominated"] = plan.undominated;
  return json;
}

nlohmann::json problem_json(const Scenario& scenario, const Params& problem, const PlanTitle& title,
                            const PlanOptions& options) {
  nlohmann::json parameters = nlohmann::json::object();
  for (const auto& [name, value] : problem.all())
    if (!is_switch(name)) parameters[name] = value;
  return {{"scenario", scenario.name},
          {"parameters", parameters},
          {"train", problem.train},
          {"machine", title.machine},
          {"profile", options.predict.profile.name},
          {"device_memory_bytes", options.predict.machine.value("gpu.memory")},
          {"max_ranks", options.max_ranks}};
}

nlohmann::json plan_json(const Planned& planned, const PlanTitle& title,
                         const PlanOptions& options) {
  nlohmann::json json = problem_json(*planned.scenario, planned.problem, title, options);
  json["objective"] = name_of(options.objective);
  json["plans"] = nlohmann::json::array();
  for (const Proposal& plan : planned.plans) json["plans"].push_back(plan_json(plan));
  return json;
}

}  // namespace shardlab
