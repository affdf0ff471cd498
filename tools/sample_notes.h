#pragma once

#include <string>
#include <vector>

#include "results/scaling.h"

namespace shardlab {

/// Lines below the table of a measured curve: outliers and groups among its samples, and what made
/// their times doubtful while they were taken.
[[nodiscard]] std::string sample_notes(const results::Reader& reader, const results::Curve& curve);

/// What the state of a run says against its times.
[[nodiscard]] std::vector<std::string> doubts_in(const std::string& state);

}  // namespace shardlab
