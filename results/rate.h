#pragma once

#include <cstdint>

#include "results/statistics.h"

namespace shardlab::results {

/// Where a probability lies of which `hits` of `trials` independent tries were seen.
///
/// Errors   invalid: no trials, or hits that are not 0 .. trials.
/// Source   Wilson, Journal of the American Statistical Association 22, 1927; coverage 95 %.
[[nodiscard]] Interval rate_interval(std::int64_t hits, std::int64_t trials);

}  // namespace shardlab::results
