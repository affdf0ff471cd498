#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/sim/offload.h"
#include "tools/predict.h"
#include "tools/request.h"

namespace shardlab {

/// One way to run a problem, with what it is predicted to take.
struct Proposal {
  enum class Verdict : std::uint8_t {
    fits,
    memory,   ///< More than a device has.
    idle,     ///< Some ranks are left without work.
    refused,  ///< The scenario or the machine says no.
  };

  Mesh mesh = Mesh({{"domain", 1}});
  Params params;
  sim::Offload offload;
  Verdict verdict = Verdict::refused;
  std::string reason;  ///< Memory: the part that breaks it. Idle, refused: the whole text.
  Fault fault = Fault::invalid;  ///< Of a refusal.
  double over_bytes = 0;         ///< Too many on a device.
  double seconds = 0;            ///< Of a step.
  double half_width = 0;         ///< Relative, of its 80 % interval.
  double device_bytes = 0;
  double host_bytes = 0;      ///< Of a rank, offloaded.
  bool extrapolated = false;  ///< Some of it lies outside what is measured.
  bool undominated = false;   ///< No other plan that fits is both faster and cheaper.

  [[nodiscard]] bool fits() const { return verdict == Verdict::fits; }
  [[nodiscard]] bool predicted() const { return seconds > 0; }

  /// GPU-hours of a thousand steps.
  [[nodiscard]] double hours() const { return seconds * 1000 * mesh.size() / 3600; }
};

/// What the best plan has least of.
enum class Objective : std::uint8_t { time, gpu_hours, memory };

[[nodiscard]] const char* name_of(Objective objective);

/// Errors   Error{invalid} naming the known ones.
[[nodiscard]] Objective parse_objective(std::string_view text);

struct PlanOptions {
  PredictOptions predict;
  int max_ranks = 64;
  Objective objective = Objective::time;
  std::vector<sim::Offload> offloads;  ///< Tried beside none.
};

/// A problem with all its plans, best first: those that fit, then the others.
struct Planned {
  const Scenario* scenario = nullptr;
  Params problem;  ///< Of it `storage`, `checkpoint` and the precision are searched.
  std::vector<Proposal> plans;

  [[nodiscard]] bool any_fits() const { return !plans.empty() && plans.front().fits(); }
};

/// Whether a parameter of a problem is a switch that a plan may set.
[[nodiscard]] bool is_switch(const std::string& parameter);

/// A mesh of the axes `data` and `domain`, those of one rank left out.
[[nodiscard]] Mesh mesh_of(int data, int domain);

/// Predicts a case, and the same with each offload that frees memory of the device; what the
/// scenario or the machine refuses is a proposal too.
///
/// Remembers the traces of the case before, which are used again if they are the same.
class PlanTrial {
 public:
  explicit PlanTrial(const PlanOptions& options) : options_(options) {}
  [[nodiscard]] std::vector<Proposal> operator()(const Case& tried,
                                                 const std::vector<sim::Offload>& offloads);

 private:
  const PlanOptions& options_;
  std::string key_;
  std::shared_ptr<const TracedRanks> traced_;
};

/// Every problem of the request on every mesh of powers of two, with every switch that was not
/// typed.
///
/// Left out is what cannot be better: sharded storage on one rank and checkpointing at inference
/// change nothing, a data axis longer than the batch leaves ranks without work, and offload of what
/// fits adds time, unless memory is the objective.
///
/// Cost     A trace for each mesh, element type and setting of the switches; offload and the way
///          products are computed use it again.
/// Errors   As `sweep`; that of the first mesh if none can be predicted.
[[nodiscard]] std::vector<Planned> search_plans(const Scenarios& scenarios, const Request& request,
                                                const PlanOptions& options);

}  // namespace shardlab
