#pragma once

#include <span>
#include <vector>

namespace shardlab::results {

/// Each p raised so that, where nothing changed, one of all falls below x in x of 1 reports at
/// most.
///
/// Errors   invalid: a p outside [0, 1].
/// Source   Holm, Scandinavian Journal of Statistics 6, 1979.
[[nodiscard]] std::vector<double> holm(std::span<const double> p);

}  // namespace shardlab::results
