#pragma once

#include "results/run.h"
#include "tools/measure.h"
#include "tools/request.h"

namespace shardlab {

/// What is known of a run before it starts.
[[nodiscard]] results::RunHeader header_of(const Case& tested, const std::string& execution,
                                           const Request& request);

/// The samples of a measurement: times of every iteration and rank, exact quantities of one
/// iteration, the loss of every step.
[[nodiscard]] results::Rows rows_of(const Measurement& measurement);

/// The traced iteration of every rank.
[[nodiscard]] results::Timeline timeline_of(const Measurement& measurement);

}  // namespace shardlab
