#pragma once

#include <optional>
#include <string>

#include "results/plot.h"
#include "results/run.h"

namespace shardlab::results {

/// What the lanes of the ranks did, over time; nothing where no step is stored.
///
/// What is narrower than a part of the step becomes one box with what is beside it, whose note says
/// how many it holds; a lane has at most some hundred boxes. Of many ranks the first are shown.
[[nodiscard]] std::optional<Plot> timeline_plot(const std::string& title, const StoredRun& run,
                                                const Timeline& timeline);

}  // namespace shardlab::results
