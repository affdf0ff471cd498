#pragma once

#include <vector>

#include "results/compare_series.h"

namespace shardlab::results {

/// Findings on the scaling curves that both sides have, over the sizes that they share: the serial
/// fraction of a fit and the efficiency on most ranks.
///
/// Runs on meshes of one axis count that are not oversubscribed; of fewer than 4 sizes a finding
/// says `not enough data`, of one size nothing is said.
[[nodiscard]] std::vector<Pending> compare_curves(const std::vector<SeriesPair>& pairs,
                                                  const Sides& sides);

/// Findings on how measured times stand to predicted ones, where both sides have both of a problem
/// and mesh: worse is farther from each other.
[[nodiscard]] std::vector<Pending> compare_drift(const std::vector<SeriesPair>& pairs,
                                                 const Sides& sides);

}  // namespace shardlab::results
