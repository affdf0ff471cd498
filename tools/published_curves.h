#pragma once

#include <vector>

#include "engine/core/scenario.h"
#include "results/scaling.h"

namespace shardlab {

/// The published rows that give times as curves, keyed like the runs of the same problem.
[[nodiscard]] std::vector<results::Curve> published_curves(const Scenarios& scenarios);

}  // namespace shardlab
