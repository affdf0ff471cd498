#pragma once

#include <string>

#include "results/comparison.h"

namespace shardlab::results {

/// A comparison for programs; what is not known is null. `counts` has every verdict.
[[nodiscard]] std::string to_json(const Comparison& comparison);

}  // namespace shardlab::results
