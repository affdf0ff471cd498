#include "tools/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "engine/core/check.h"
#include "tools/predict_offload.h"

namespace shardlab {
namespace {

/// What traces depend on: dtypes that differ by the way of computing only share one.
std::string trace_key(const Case& tried) {
  std::string key = fmt::format("{} {} {} {}", tried.scenario->name, tried.mesh.text(),
                                name_of(tried.params.precision.dtype), tried.params.train);
  for (const auto& [name, value] : tried.params.all()) key += fmt::format(" {}={}", name, value);
  return key;
}

/// The problem of a case: what its switches do not change.
std::string problem_key(const Case& tried) {
  std::string key;
  for (const auto& [name, value] : tried.params.all())
    if (!is_switch(name)) key += fmt::format("{}={} ", name, value);
  return key;
}

/// Why a mesh leaves ranks without work, where its axes and the sizes that they cut say so without
/// a trace; else empty.
std::string idle_by_size(const Case& tried) {
  for (const ParamSpec& spec : tried.scenario->params) {
    const int axis = spec.grows_with == "data" ? tried.mesh.find("data") : -1;
    if (axis < 0 || tried.params.integer(spec.name) >= tried.mesh.extent(axis)) continue;
    return fmt::format("{} {} cannot give each of {} ranks a part", spec.name,
                       tried.params.text(spec.name), tried.mesh.extent(axis));
  }
  return {};
}

/// Powers of two of ranks, each divided between both axes in every way.
std::vector<Mesh> meshes_up_to(int most) {
  std::vector<Mesh> all;
  for (int ranks = 1; ranks <= most; ranks *= 2)
    for (int data = 1; data <= ranks; data *= 2) all.push_back(mesh_of(data, ranks / data));
  return all;
}

double measure_of(const Proposal& plan, Objective objective) {
  switch (objective) {
    case Objective::gpu_hours:
      return plan.hours();
    case Objective::memory:
      return plan.device_bytes;
    default:
      return plan.seconds;
  }
}

/// Marks what no other plan beats in both time and hours.
void mark_undominated(std::vector<Proposal>& plans) {
  for (Proposal& plan : plans)
    plan.undominated =
        plan.fits() && std::none_of(plans.begin(), plans.end(), [&plan](const Proposal& other) {
          const bool no_worse = other.seconds <= plan.seconds && other.hours() <= plan.hours();
          const bool better = other.seconds < plan.seconds || other.hours() < plan.hours();
          return other.fits() && no_worse && better;
        });
}

void set_judgement(Proposal& plan, const sim::Fit& fit) {
  plan.verdict = fit.fits ? Proposal::Verdict::fits : Proposal::Verdict::memory;
  plan.over_bytes = fit.over;
  plan.reason = fit.breaker;
}

}  // namespace

const char* name_of(Objective objective) {
  switch (objective) {
    case Objective::gpu_hours:
      return "gpu-hours";
    case Objective::memory:
      return "memory";
    default:
      return "time";
  }
}

Objective parse_objective(std::string_view text) {
  for (const Objective each : {Objective::time, Objective::gpu_hours, Objective::memory})
    if (text == name_of(each)) return each;
  fail(Fault::invalid,
       "unknown objective '{}': did you mean '{}'? Known are time, gpu-hours, "
       "memory",
       text, nearest(text, {"time", "gpu-hours", "memory"}));
}

bool is_switch(const std::string& parameter) {
  return parameter == "storage" || parameter == "checkpoint";
}

Mesh mesh_of(int data, int domain) {
  if (data == 1) return Mesh({{"domain", domain}});
  if (domain == 1) return Mesh({{"data", data}});
  return Mesh({{"data", data}, {"domain", domain}});
}

std::vector<Proposal> PlanTrial::operator()(const Case& tried,
                                            const std::vector<sim::Offload>& offloads) {
  Proposal plain;
  plain.mesh = tried.mesh;
  plain.params = tried.params;
  std::vector<Proposal> plans{plain};
  Prediction prediction;
  try {
    plans[0].reason = idle_by_size(tried);
    if (!plans[0].reason.empty()) {
      plans[0].verdict = Proposal::Verdict::idle;
      return plans;
    }
    const std::string key = trace_key(tried);
    if (key != key_) {
      key_.clear();
      traced_ = std::make_shared<const TracedRanks>(
          trace_ranks(*tried.scenario, tried.params, tried.mesh));
      key_ = key;
    }
    prediction = predict(traced_, tried.params, tried.mesh, options_.predict);
  } catch (const Error& error) {
    if (error.fault() == Fault::internal) throw;
    plans[0].reason = error.what();
    plans[0].fault = error.fault();
    return plans;
  }
  plans[0].seconds = prediction.simulated.seconds;
  plans[0].half_width = prediction.half_width;
  plans[0].extrapolated = prediction.extrapolated;
  plans[0].device_bytes = prediction.memory.total;
  set_judgement(plans[0], prediction.fit);
  // Notes are of ranks without work, which cost money for nothing.
  if (!traced_->notes.empty()) {
    plans[0].verdict = Proposal::Verdict::idle;
    plans[0].reason = traced_->notes.front();
    return plans;
  }
  for (const sim::Offload& offload : offloads) {
    const OffloadPrediction moved =
        with_offload(prediction, offload, tried.params, tried.mesh, options_.predict);
    // Copies take room too, and may take as much as they free.
    const bool frees = std::all_of(plans.begin(), plans.end(), [&](const Proposal& less) {
      const bool part = (offload.optimizer || !less.offload.optimizer) &&
                        (offload.activations || !less.offload.activations);
      return !part || moved.memory.total < less.device_bytes;
    });
    if (!frees) continue;
    Proposal& plan = plans.emplace_back(plain);
    plan.offload = offload;
    plan.seconds = moved.seconds;
    plan.half_width = moved.half_width;
    plan.extrapolated = prediction.extrapolated;
    plan.device_bytes = moved.memory.total;
    plan.host_bytes = moved.host_bytes;
    set_judgement(plan, moved.fit);
  }
  return plans;
}

std::vector<Planned> search_plans(const Scenarios& scenarios, const Request& request,
                                  const PlanOptions& options) {
  const Scenario& scenario = scenarios.find(request.names.front());
  Request all = request;
  all.meshes = meshes_up_to(options.max_ranks);
  std::vector<std::pair<std::string, std::string>> set_here;
  const auto search = [&](const std::string& name, const char* off, const char* on) {
    if (request.values.contains(name) || !scenario.preset(request.preset).has(name)) return;
    set_here.emplace_back(name, on);
    all.values[name] = fmt::format("{},{}", off, on);
  };
  search("storage", "whole", "sharded");
  search("checkpoint", "none", "blocks");

  // Settings that change nothing where they stand are those of another plan.
  const auto same_as_another = [&](const Case& tried) {
    return std::any_of(set_here.begin(), set_here.end(), [&](const auto& set) {
      const auto& [name, on] = set;
      return tried.params.text(name) == on &&
             (name == "storage" ? tried.mesh.size() == 1 : !tried.params.train);
    });
  };
  std::vector<std::pair<std::string, std::vector<Case>>> problems;
  for (const Case& tried : sweep(scenarios, all)) {
    if (same_as_another(tried)) continue;
    const std::string key = problem_key(tried);
    auto known = std::find_if(problems.begin(), problems.end(),
                              [&key](const auto& problem) { return problem.first == key; });
    if (known == problems.end()) known = problems.insert(known, {key, {}});
    known->second.push_back(tried);
  }

  std::vector<Planned> result;
  for (auto& [key, cases] : problems) {
    Planned& planned = result.emplace_back(Planned{&scenario, cases.front().params, {}});
    std::stable_sort(cases.begin(), cases.end(),
                     [](const Case& a, const Case& b) { return trace_key(a) < trace_key(b); });
    PlanTrial trial(options);
    for (const Case& tried : cases) {
      std::vector<Proposal> plans = trial(tried, options.offloads);
      // Copies never make a step faster.
      if (plans[0].fits() && options.objective != Objective::memory) plans.resize(1);
      planned.plans.insert(planned.plans.end(), plans.begin(), plans.end());
    }
    const auto refused = std::find_if(
        planned.plans.begin(), planned.plans.end(),
        [](const Proposal& plan) { return plan.verdict == Proposal::Verdict::refused; });
    if (refused != planned.plans.end() &&
        std::none_of(planned.plans.begin(), planned.plans.end(), std::mem_fn(&Proposal::predicted)))
      fail(refused->fault, "{}", refused->reason);
    std::stable_sort(planned.plans.begin(), planned.plans.end(),
                     [&options](const Proposal& a, const Proposal& b) {
                       if (a.fits() != b.fits()) return a.fits();
                       const double mine = measure_of(a, options.objective);
                       const double other = measure_of(b, options.objective);
                       if (mine != other) return mine < other;
                       return a.mesh.size() < b.mesh.size();
                     });
    mark_undominated(planned.plans);
  }
  return result;
}

}  // namespace shardlab
