#pragma once

#include <nlohmann/json_fwd.hpp>

#include "engine/sim/calibrate.h"

namespace shardlab {

/// A log beside its predictions, for programs.
[[nodiscard]] nlohmann::json json_of(const sim::ComparedLog& log);

}  // namespace shardlab
