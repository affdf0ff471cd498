#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/causes.h"

namespace shardlab::results {

/// The traced steps of the runs of one side, each of one iteration.
using Profiles = std::vector<Profile>;

/// What the timelines of two sides are to each other.
enum class Timelines : std::uint8_t { sampled, paired, computed };

/// Which ops take longer (or less, where not `more`), the largest first, and where.
///
/// One step is noisy: where there are enough runs, only those ops are told whose times of both
/// sides differ by a rank test, by signed ranks where the runs are paired, after Bonferroni's
/// correction for the number of ops. Where there are not, the text says of how few it is. What is
/// computed, such as a prediction, needs no test.
[[nodiscard]] std::vector<std::string> time_causes(bool more, const Profiles& base,
                                                   const Profiles& next, Timelines timelines);

}  // namespace shardlab::results
