#pragma once

#include <vector>

namespace shardlab::sim {

/// The value in the middle, or the mean of the two that are.
///
/// Errors   Error{internal} without values.
[[nodiscard]] double median(std::vector<double> values);

}  // namespace shardlab::sim
