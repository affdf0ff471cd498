#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/plan_text.h"

namespace shardlab {

/// One way to make a problem fit or go faster, alone.
struct Strategy {
  enum class Result : std::uint8_t { same, rounding, other };

  std::string name;
  std::string change;            ///< As it would be typed: `checkpoint blocks`.
  std::optional<Proposal> plan;  ///< None where it cannot be tried.
  std::string why_not;           ///< Why it does not go; empty if it does.
  Result result = Result::same;

  [[nodiscard]] bool fits() const { return plan && plan->fits(); }
};

[[nodiscard]] const char* name_of(Strategy::Result result);

/// The alternatives for one problem, from the least to change.
struct Strategies {
  const Scenario* scenario = nullptr;
  Params problem;
  std::vector<Strategy> rows;

  /// Whether one of them solves the problem that was asked.
  [[nodiscard]] bool any_fits() const;

  /// Of those that fit and give the same result the one of fewest GPU-hours; null if none does.
  [[nodiscard]] const Strategy* cheapest(bool with_offload) const;
};

/// One rank as asked, and the alternatives, each on the fewest ranks that make it fit; domain
/// parallelism on every power of two up to that, and to 8 at least. Of values typed with commas
/// for dtype, storage and checkpoint the first counts.
///
/// Cost     About 20 predictions a problem.
/// Errors   As `sweep`; what refuses one rank as asked.
[[nodiscard]] std::vector<Strategies> compare_strategies(const Scenarios& scenarios,
                                                         const Request& request,
                                                         const PlanOptions& options);

[[nodiscard]] std::string strategies_text(const Strategies& strategies, const PlanTitle& title,
                                          const PlanOptions& options);
[[nodiscard]] nlohmann::json strategies_json(const Strategies& strategies, const PlanTitle& title,
                                             const PlanOptions& options);

}  // namespace shardlab
