#include "tools/strategies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/core/check.h"

namespace shardlab {
namespace {

/// Spatial extents halved; empty if one of them is odd.
std::string halved(const Params& params, const std::string& name) {
  std::vector<std::int64_t> extents = params.sizes(name);
  for (std::int64_t& extent : extents) {
    if (extent % 2 != 0) return {};
    extent /= 2;
  }
  return fmt::format("{}", fmt::join(extents, "x"));
}

class Comparison {
 public:
  Comparison(const Case& asked, const PlanOptions& options)
      : asked_(asked), options_(options), trial_(options) {}

  Strategies run() {
    strategies_.scenario = asked_.scenario;
    strategies_.problem = asked_.params;
    const Proposal asked = plain(asked_.params, mesh_of(1, 1));
    if (asked.verdict == Proposal::Verdict::refused) fail(asked.fault, "{}", asked.reason);
    add("one GPU as asked", asked.mesh.text(), asked);
    lower_precision();
    checkpointing();
    offload();
    sharded_storage();
    data();
    domain();
    down_sampling();
    return std::move(strategies_);
  }

 private:
  Proposal plain(const Params& params, const Mesh& mesh) {
    return trial_({asked_.scenario, mesh, params, params}, {}).front();
  }

  void add(std::string name, std::string change, Proposal plan,
           Strategy::Result result = Strategy::Result::same) {
    std::string why = why_not(plan);
    strategies_.rows.push_back(
        {std::move(name), std::move(change), std::move(plan), std::move(why), result});
  }

  void cannot(std::string name, std::string change, std::string why) {
    strategies_.rows.push_back({std::move(name), std::move(change), {}, std::move(why)});
  }

  /// With a switch set; empty where the scenario has no such switch or it is set already.
  std::optional<Params> switched(const char* strategy, const std::string& name,
                                 const std::string& value) {
    const std::string change = fmt::format("{} {}", name, value);
    if (!asked_.params.has(name)) {
      cannot(strategy, change, fmt::format("{} has no --{}", asked_.scenario->name, name));
      return {};
    }
    if (asked_.params.text(name) == value) {
      cannot(strategy, change, "asked for already");
      return {};
    }
    Params params = asked_.params;
    params.set(name, value);
    return params;
  }

  void lower_precision() {
    if (width_of(asked_.params.precision.dtype) <= 2) {
      cannot("lower precision", "",
             fmt::format("{} is the lowest already", name_of(asked_.params.precision)));
      return;
    }
    Params params = asked_.params;
    params.precision = parse_precision("bfloat16");
    add("lower precision", "dtype bfloat16", plain(params, mesh_of(1, 1)),
        Strategy::Result::rounding);
  }

  void checkpointing() {
    if (!asked_.params.train) {
      cannot("checkpointing", "checkpoint blocks", "inference saves nothing for backward");
      return;
    }
    if (const auto params = switched("checkpointing", "checkpoint", "blocks"))
      add("checkpointing", "checkpoint blocks", plain(*params, mesh_of(1, 1)));
  }

  void offload() {
    if (options_.offloads.empty()) {
      cannot("offload", "",
             asked_.params.train
                 ? fmt::format("{} names no other memory", options_.predict.machine.name)
                 : "inference keeps nothing that could wait in host memory");
      return;
    }
    const std::vector<Proposal> plans =
        trial_({asked_.scenario, mesh_of(1, 1), asked_.params, asked_.params}, options_.offloads);
    if (plans.size() == 1) {
      cannot("offload", "", "what would move takes as much room in copies as it frees");
      return;
    }
    const auto best = std::min_element(
        plans.begin() + 1, plans.end(),
        [](const Proposal& a, const Proposal& b) { return a.over_bytes < b.over_bytes; });
    add("offload", fmt::format("offload {}", sim::name_of(best->offload)), *best);
  }

  /// The fewest ranks that fit, else the most that have work.
  Proposal fewest(const Params& params) {
    Proposal found;
    found.reason = fmt::format("--max-ranks {}", options_.max_ranks);
    for (int ranks = 2; ranks <= options_.max_ranks; ranks *= 2) {
      Proposal plan = plain(params, mesh_of(ranks, 1));
      if (ranks > 2 && (plan.verdict == Proposal::Verdict::idle || !plan.predicted())) break;
      found = std::move(plan);
      if (found.fits() || found.verdict == Proposal::Verdict::idle) break;
    }
    return found;
  }

  void sharded_storage() {
    if (const auto params = switched("sharded storage", "storage", "sharded"))
      add_fewest("sharded storage", "storage sharded", *params);
  }

  void data() { add_fewest("smaller batch a GPU", "", asked_.params); }

  void add_fewest(const char* name, const std::string& change, const Params& params) {
    Proposal plan = fewest(params);
    const std::string mesh = plan.mesh.size() > 1 ? plan.mesh.text() : "";
    add(name, change + (change.empty() || mesh.empty() ? "" : ", ") + mesh, std::move(plan));
  }

  void domain() {
    bool fits = false;
    for (int ranks = 2; ranks <= options_.max_ranks && (ranks <= 8 || !fits); ranks *= 2) {
      const Proposal plan = plain(asked_.params, mesh_of(1, ranks));
      fits = fits || plan.fits();
      add("domain parallelism", plan.mesh.text(), plan);
    }
    if (options_.max_ranks < 2)
      cannot("domain parallelism", "", fmt::format("--max-ranks {}", options_.max_ranks));
  }

  /// Half as fine until it fits, in every dim of what grows with the domain.
  void down_sampling() {
    Params params = asked_.params;
    std::optional<Strategy> last;
    while (!last || (last->plan->verdict == Proposal::Verdict::memory)) {
      std::string change;
      for (const ParamSpec& spec : asked_.scenario->params) {
        if (spec.grows_with != "domain") continue;
        const std::string value = halved(params, spec.name);
        if (value.empty()) continue;
        params.set(spec.name, value);
        change += fmt::format("{}{} {}", change.empty() ? "" : ", ", spec.name, value);
      }
      if (change.empty()) break;
      Proposal plan = plain(params, mesh_of(1, 1));
      if (last && !plan.predicted()) break;
      std::string why = why_not(plan);
      last = Strategy{"down-sampling", change, std::move(plan), std::move(why),
                      Strategy::Result::other};
    }
    if (last)
      strategies_.rows.push_back(std::move(*last));
    else
      cannot("down-sampling", "", "no parameter that grows with the domain can be halved");
  }

  const Case& asked_;
  const PlanOptions& options_;
  PlanTrial trial_;
  Strategies strategies_;
};

}  // namespace

const char* name_of(Strategy::Result result) {
  switch (result) {
    case Strategy::Result::rounding:
      return "other rounding";
    case Strategy::Result::other:
      return "other problem";
    default:
      return "yes";
  }
}

bool Strategies::any_fits() const {
  return std::any_of(rows.begin(), rows.end(), [](const Strategy& row) {
    return row.fits() && row.result != Strategy::Result::other;
  });
}

const Strategy* Strategies::cheapest(bool with_offload) const {
  const Strategy* best = nullptr;
  for (const Strategy& row : rows) {
    if (!row.fits() || row.result != Strategy::Result::same) continue;
    if (row.plan->offload.any() && !with_offload) continue;
    if (best == nullptr || row.plan->hours() < best->plan->hours()) best = &row;
  }
  return best;
}

std::vector<Strategies> compare_strategies(const Scenarios& scenarios, const Request& request,
                                           const PlanOptions& options) {
  Request asked = request;
  asked.meshes = {mesh_of(1, 1)};
  asked.dtypes.resize(1);
  for (auto& [name, text] : asked.values)
    if (is_switch(name)) text = text.substr(0, text.find(','));
  std::vector<Strategies> all;
  for (const Case& each : sweep(scenarios, asked)) all.push_back(Comparison(each, options).run());
  return all;
}

}  // namespace shardlab
