#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/plan.h"

namespace shardlab {

/// What was typed, for titles and for commands to type next.
struct PlanTitle {
  const Request& request;
  std::string machine;  ///< As typed.
};

/// The line above the plans or strategies of a problem.
[[nodiscard]] std::string title_of(const Scenario& scenario, const Params& problem,
                                   const PlanTitle& title, const PlanOptions& options);

/// The command that predicts a plan without its offload.
[[nodiscard]] std::string command_of(const Proposal& plan, const PlanTitle& title);

/// `0.52 GiB too much, most of it activation`, or the reason as it is; empty if it fits.
[[nodiscard]] std::string why_not(const Proposal& plan);

/// The best plans of a problem, of each mesh and dtype one, and why the others do not go.
[[nodiscard]] std::string plan_text(const Planned& planned, const PlanTitle& title,
                                    const PlanOptions& options);

/// What to know of plans with offload, of which the one that needs most host memory is given.
[[nodiscard]] std::string offload_note(double host_bytes);

/// GPU-hours of a thousand steps, to three digits.
[[nodiscard]] std::string show_hours(const Proposal& plan);

[[nodiscard]] nlohmann::json problem_json(const Scenario& scenario, const Params& problem,
                                          const PlanTitle& title, const PlanOptions& options);
[[nodiscard]] nlohmann::json plan_json(const Proposal& plan);
[[nodiscard]] nlohmann::json plan_json(const Planned& planned, const PlanTitle& title,
                                       const PlanOptions& options);

}  // namespace shardlab
