#include "tools/plan_verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/core/check.h"
#include "tools/table.h"

namespace shardlab {
namespace {

/// One way to lay out a problem.
struct Plan {
  std::string mesh;
  std::string dtype;
  int ranks = 0;
  double seconds = 0;
  double half_width = 0;
  double bytes = 0;
  std::string reason;  ///< Why it cannot be; empty if it can.

  /// Device hours of a thousand steps.
  [[nodiscard]] double hours() const { return seconds * 1000 * ranks / 3600; }
};

constexpr std::size_t shown = 10;

class Planner {
 public:
  Planner(const Scenarios& scenarios, const Request& request, const PlanRequest& typed)
      : request_(request), typed_(typed) {
    check(!typed.machine.empty(), "plan needs --machine, such as dgx-h100:8");
    check(typed.max_ranks >= 1, "--max-ranks: {} ranks; at least 1 is needed", typed.max_ranks);
    check(request.names.size() == 1, "plan: one scenario at a time, got {}", request.names.size());
    scenario_ = &scenarios.find(request.names.front());
    const NamedMachine named = machine_named(typed.machine, request.database);
    options_.machine = named.machine;
    options_.profile = sim::find_profile(typed.profile);
    if (!typed.memory.empty())
      options_.machine.numbers["gpu.memory"] = {parse_bytes(typed.memory),
                                                sim::Source::user_measured, "--memory", 0.0};
    most_ = typed.max_ranks;
    if (named.hosts > 0)
      most_ = std::min(most_, named.hosts * static_cast<int>(options_.machine.value("host.gpus")));
    Request problem = request;
    problem.meshes = meshes();
    cases_ = sweep(scenarios, problem);
  }

  Exit run() {
    for (const Case& planned : cases_) plans_.push_back(plan_of(planned));
    std::stable_sort(plans_.begin(), plans_.end(), [](const Plan& a, const Plan& b) {
      if (a.reason.empty() != b.reason.empty()) return a.reason.empty();
      return a.seconds < b.seconds;
    });
    if (request_.json)
      print_json();
    else
      print_tables();
    const bool any = !plans_.empty() && plans_.front().reason.empty();
    return any ? Exit::fine : Exit::failed;
  }

 private:
  /// Powers of two of ranks, each divided between both axes in every way.
  [[nodiscard]] std::vector<Mesh> meshes() const {
    std::vector<Mesh> all;
    for (int ranks = 1; ranks <= most_; ranks *= 2)
      for (int data = 1; data <= ranks; data *= 2)
        all.push_back(Mesh({{"data", data}, {"domain", ranks / data}}));
    return all;
  }

  Plan plan_of(const Case& planned) {
    Plan plan;
    plan.mesh = planned.mesh.text();
    plan.dtype = name_of(planned.params.precision);
    plan.ranks = planned.mesh.size();
    try {
      const Prediction predicted =
          predict(*planned.scenario, planned.params, planned.mesh, options_);
      plan.seconds = predicted.simulated.seconds;
      plan.half_width = predicted.half_width;
      plan.bytes = predicted.memory.total;
      if (!predicted.fit.fits)
        plan.reason = fmt::format("{} too much, most of it {}", show_bytes(predicted.fit.over),
                                  predicted.fit.breaker);
      // Notes are of ranks without work, which cost money for nothing.
      if (!predicted.traced->notes.empty()) plan.reason = predicted.traced->notes.front();
    } catch (const Error& error) {
      plan.reason = error.what();
    }
    return plan;
  }

  void print_tables() {
    fmt::print("{}{}, planned on {} with {}, {} meshes of up to {} ranks\n", scenario_->name,
               request_.train ? ", training" : "", typed_.machine, options_.profile.name,
               plans_.size(), most_);
    Table best({"mesh", "dtype", "step", "80 % interval", "device memory", "hours of 1000 steps"});
    std::map<std::string, std::vector<std::string>> refused;
    std::size_t fits = 0;
    for (const Plan& plan : plans_) {
      if (!plan.reason.empty()) {
        refused[plan.reason].push_back(plan.mesh);
        continue;
      }
      if (++fits > shown) continue;
      best.row(
          {plan.mesh, plan.dtype, "~" + show_seconds(plan.seconds),
           show_range(plan.seconds * (1 - plan.half_width), plan.seconds * (1 + plan.half_width)),
           show_bytes(plan.bytes), fmt::format("{:.2f}", plan.hours())});
    }
    if (fits == 0)
      fmt::print("no plan fits\n");
    else
      fmt::print("{}", best.text());
    if (fits > shown) fmt::print("and {} slower ones that fit\n", fits - shown);
    if (!refused.empty()) fmt::print("\nwhat does not go:\n");
    for (const auto& [reason, meshes] : refused)
      fmt::print("  {}{}: {}\n", meshes.front(),
                 meshes.size() > 1 ? fmt::format(" and {} more", meshes.size() - 1) : "", reason);
    fmt::print(
        "\nnot searched yet: tensor axes, sharded parameter storage, activation checkpointing, "
        "offload\n");
  }

  void print_json() {
    nlohmann::json all = nlohmann::json::array();
    for (const Plan& plan : plans_)
      all.push_back({{"mesh", plan.mesh},
                     {"dtype", plan.dtype},
                     {"ranks", plan.ranks},
                     {"seconds", plan.seconds},
                     {"device_bytes", plan.bytes},
                     {"device_hours_per_1000_steps", plan.hours()},
                     {"fits", plan.reason.empty()},
                     {"reason", plan.reason}});
    fmt::print("{}\n", all.dump(2));
  }

  const Request& request_;
  const PlanRequest& typed_;
  const Scenario* scenario_ = nullptr;
  PredictOptions options_;
  int most_ = 1;
  std::vector<Case> cases_;
  std::vector<Plan> plans_;
};

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

Exit plan_verb(const Scenarios& scenarios, const Request& request, const PlanRequest& options) {
  return Planner(scenarios, request, options).run();
}

}  // namespace shardlab
