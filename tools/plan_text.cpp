#include "tools/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tools/noted_table.h"
#include "tools/table.h"

namespace shardlab {
namespace {

constexpr std::size_t shown = 10;

/// The settings of a plan for one line: `data=2,domain=4 float32 sharded blocks`.
std::string short_text(const Proposal& plan) {
  std::string text = fmt::format("{} {}", plan.mesh.text(), name_of(plan.params.precision));
  for (const auto& [name, value] : plan.params.all())
    if (is_switch(name) && value != "none" && value != "whole")
      text += fmt::format(" {} {}", name, value);
  if (plan.offload.any()) text += fmt::format(" offload {}", name_of(plan.offload));
  return text;
}

/// Columns of a table: those of switches only where the scenario has them.
class Columns {
 public:
  Columns(const Params& problem, bool offloads) : offloads_(offloads) {
    for (const char* name : {"storage", "checkpoint"})
      if (problem.has(name)) switches_.emplace_back(name);
  }

  [[nodiscard]] std::vector<std::string> header() const {
    std::vector<std::string> cells{"mesh", "dtype"};
    cells.insert(cells.end(), switches_.begin(), switches_.end());
    if (offloads_) cells.emplace_back("offload");
    for (const char* each : {"step", "80 % interval", "device memory", "GPU-hours", ""})
      cells.emplace_back(each);
    return cells;
  }

  [[nodiscard]] std::vector<std::string> row(const Proposal& plan) const {
    std::vector<std::string> cells{plan.mesh.text(), name_of(plan.params.precision)};
    for (const std::string& name : switches_) cells.push_back(plan.params.text(name));
    if (offloads_) cells.emplace_back(name_of(plan.offload));
    cells.push_back("~" + show_seconds(plan.seconds));
    cells.push_back(
        show_range(plan.seconds * (1 - plan.half_width), plan.seconds * (1 + plan.half_width)));
    cells.push_back(show_bytes(plan.device_bytes));
    cells.push_back(show_hours(plan));
    cells.push_back(std::string(plan.undominated ? "*" : "") + (plan.extrapolated ? "?" : ""));
    return cells;
  }

 private:
  bool offloads_;
  std::vector<std::string> switches_;
};

/// The plans that do not go, by what they have in common.
std::string refusals(const std::vector<Proposal>& plans) {
  std::map<std::string, std::vector<const Proposal*>> groups;
  for (const Proposal& plan : plans) {
    if (plan.fits()) continue;
    std::string group = plan.reason;
    if (plan.verdict == Proposal::Verdict::memory)
      group = fmt::format("more memory than a device has, most of it {}", plan.reason);
    if (plan.verdict == Proposal::Verdict::idle) group = "ranks without work";
    groups[group].push_back(&plan);
  }
  if (groups.empty()) return {};
  NotedTable table({"plans", "what does not go"});
  for (const auto& [group, members] : groups) {
    // The one that is nearest to going stands for the others.
    const Proposal& nearest = **std::min_element(members.begin(), members.end(),
                                                 [](const Proposal* a, const Proposal* b) {
                                                   if (a->over_bytes != b->over_bytes)
                                                     return a->over_bytes < b->over_bytes;
                                                   return a->mesh.size() < b->mesh.size();
                                                 });
    std::string note = group;
    if (nearest.verdict == Proposal::Verdict::memory) {
      double most = 0;
      for (const Proposal* each : members) most = std::max(most, each->over_bytes);
      const std::string least = show_bytes(nearest.over_bytes);
      note += members.size() == 1 ? fmt::format(": {} too much", least)
                                  : fmt::format(": {} to {} too much", least, show_bytes(most));
      note += fmt::format("; nearest is {} with {}", short_text(nearest),
                          show_bytes(nearest.device_bytes));
    } else if (nearest.verdict == Proposal::Verdict::idle) {
      note += fmt::format(", such as {}: {}", nearest.mesh.text(), nearest.reason);
    } else {
      note = fmt::format("{}: {}", short_text(nearest), group);
    }
    table.rows({{std::to_string(members.size())}}, note);
  }
  return "\n" + table.text();
}

}  // namespace

std::string title_of(const Scenario& scenario, const Params& problem, const PlanTitle& title,
                     const PlanOptions& options) {
  std::string text = scenario.name;
  for (const auto& [name, value] : title.request.values)
    if (!is_switch(name)) text += fmt::format(", {} {}", name, problem.text(name));
  return fmt::format("{}{}, on {} with {}, {} a device", text,
                     problem.train ? ", training" : ", inference", title.machine,
                     options.predict.profile.name,
                     show_bytes(options.predict.machine.value("gpu.memory")));
}

std::string command_of(const Proposal& plan, const PlanTitle& title) {
  const Request& request = title.request;
  std::string text = fmt::format("shardlab predict {}", request.names.front());
  if (request.preset != "paper") text += fmt::format(" --preset {}", request.preset);
  for (const auto& [name, value] : plan.params.all())
    if (request.values.contains(name) || (is_switch(name) && value != "none" && value != "whole"))
      text += fmt::format(" --{} {}", name, value);
  if (plan.params.train) text += " --train";
  return fmt::format("{} --dtype {} --machine {} --mesh {}", text, name_of(plan.params.precision),
                     title.machine, plan.mesh.text());
}

std::string why_not(const Proposal& plan) {
  if (plan.verdict != Proposal::Verdict::memory) return plan.reason;
  return fmt::format("{} too much, most of it {}", show_bytes(plan.over_bytes), plan.reason);
}

std::string offload_note(double host_bytes) {
  return fmt::format(
      "offload is predicted only, shardlab does not run it yet; it keeps up to {} a GPU in host "
      "memory\n",
      show_bytes(host_bytes));
}

std::string show_hours(const Proposal& plan) {
  return plan.hours() < 100 ? fmt::format("{:#.3g}", plan.hours())
                            : fmt::format("{:.0f}", plan.hours());
}

std::string plan_text(const Planned& planned, const PlanTitle& title, const PlanOptions& options) {
  const std::vector<Proposal>& plans = planned.plans;
  std::set<std::string> meshes;
  std::size_t known = 0;
  for (const Proposal& plan : plans) {
    meshes.insert(plan.mesh.text());
    if (plan.verdict == Proposal::Verdict::idle && !plan.predicted()) ++known;
  }
  std::string text = title_of(*planned.scenario, planned.problem, title, options);
  text += fmt::format("\n{} plans on {} meshes of up to {} ranks", plans.size(), meshes.size(),
                      options.max_ranks);
  if (known > 0) text += fmt::format(", {} not predicted: ranks without work", known);
  text += fmt::format("; least {} first\n\n", name_of(options.objective));
  const Columns columns(planned.problem, !options.offloads.empty());
  Table best(columns.header());
  std::set<std::string> seen;
  std::size_t fit = 0;
  double host_bytes = 0;
  bool stars = false;
  bool guesses = false;
  for (const Proposal& plan : plans) {
    if (!plan.fits()) continue;
    ++fit;
    const std::string kind = fmt::format("{} {}", plan.mesh.text(), name_of(plan.params.precision));
    if (!seen.insert(kind).second || seen.size() > shown) continue;
    best.row(columns.row(plan));
    host_bytes = std::max(host_bytes, plan.host_bytes);
    stars = stars || plan.undominated;
    guesses = guesses || plan.extrapolated;
  }
  if (fit == 0) {
    text += "no plan fits\n";
  } else {
    text += best.text();
    text += "GPU-hours are of 1,000 steps\n";
    if (stars) text += "* no other plan is both faster and of fewer GPU-hours\n";
    if (guesses) text += "? extrapolated: beyond the sizes or ranks that were measured\n";
    if (host_bytes > 0) text += offload_note(host_bytes);
    text += fmt::format("{} plans fit; of each mesh and dtype the best is shown, {} of {}\n", fit,
                        std::min(shown, seen.size()), seen.size());
  }
  text += refusals(plans);
  text += "\nnot searched: tensor axes, which wait for layers that are cut along them\n";
  const auto runs = std::find_if(plans.begin(), plans.end(), [](const Proposal& plan) {
    return plan.fits() && !plan.offload.any();
  });
  if (runs != plans.end()) text += fmt::format("next: {}\n", command_of(*runs, title));
  return text;
}

}  // namespace shardlab
