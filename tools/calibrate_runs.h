#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/sim/collective_fit.h"
#include "tools/measured_runs.h"

namespace shardlab {

/// A machine corrected by the runs that a database holds of it.
struct RunCalibration {
  MeasuredRuns found;
  std::vector<sim::KernelFit> kernels;
  std::vector<sim::CollectiveFit> collectives;
  sim::Machine own;  ///< The curves that replace those of the machine, and nothing else.
};

/// Corrects rates of kernels by the traced steps of runs, and curves of collectives by probes.
///
/// Errors   As `measured_runs`; Error{unsupported} if nothing in them corrects anything.
[[nodiscard]] RunCalibration calibrate_by_runs(const std::string& database,
                                               const sim::Machine& machine,
                                               const std::vector<std::string>& chosen);

/// Errors before and after, what was corrected, what was not and why.
[[nodiscard]] std::string text_of(const RunCalibration& calibration, const sim::Machine& machine);
[[nodiscard]] nlohmann::json json_of(const RunCalibration& calibration,
                                     const sim::Machine& machine);

}  // namespace shardlab
