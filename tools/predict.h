#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/core/scenario.h"
#include "engine/sim/explain.h"
#include "engine/sim/machine_prices.h"
#include "engine/sim/memory.h"
#include "engine/sim/profile.h"
#include "engine/sim/simulate.h"
#include "tools/trace_ranks.h"

namespace shardlab {

/// A step of a scenario on a machine that need not be there.
struct Prediction {
  std::shared_ptr<const TracedRanks> traced;
  /// Programs as other software takes them, if the profile is of one; timelines point into them.
  std::shared_ptr<const std::vector<sim::FoldedTrace>> rewritten;
  sim::Simulated simulated;
  std::string placement;     ///< Where the mesh lies on the machine.
  sim::DeviceMemory memory;  ///< Of the rank that needs most.
  sim::Fit fit;
  double half_width = 0;  ///< Relative, of the step's 80 % interval.
  sim::Source weakest = sim::Source::user_measured;
  bool extrapolated = false;  ///< More than a hundredth of the step rests on `outside`.
  std::vector<std::pair<std::string, double>> outside;  ///< Kernels and calls outside what was
                                                        ///< measured, with their seconds.
  std::vector<std::pair<std::string, double>> not_validated;  ///< Calls that no log is of.
};

struct PredictOptions {
  sim::Machine machine;
  sim::Profile profile;
  sim::Stragglers stragglers;
  sim::WhatIf what_if;
};

/// The timelines of a simulation as rows of spans.
[[nodiscard]] std::vector<sim::RankSpans> spans_of(const sim::Simulated& simulated);

/// Errors   As `launch` for what the scenario refuses; Error{invalid} where the machine lacks a
///          number that is needed.
[[nodiscard]] Prediction predict(const Scenario& scenario, const Params& params, const Mesh& mesh,
                                 const PredictOptions& options);

/// The same from traces that are there already.
[[nodiscard]] Prediction predict(std::shared_ptr<const TracedRanks> traced, const Params& params,
                                 const Mesh& mesh, const PredictOptions& options);

}  // namespace shardlab
