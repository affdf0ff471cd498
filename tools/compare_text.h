#pragma once

#include <string>

#include "results/comparison.h"

namespace shardlab {

/// A comparison for people: what changed, by how much, why; series by series, the worst first.
[[nodiscard]] std::string compare_text(const results::Comparison& comparison);

}  // namespace shardlab
