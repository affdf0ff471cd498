#pragma once

#include "tests/golden/verdict.h"

namespace shardlab::golden {

/// What every op of the golden files is in the engine, and the numbers of its cases that must run
/// and be skipped.
[[nodiscard]] const std::vector<Family>& families();

}  // namespace shardlab::golden
