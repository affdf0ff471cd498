#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/plot.h"
#include "results/plot_scaling.h"

namespace shardlab::results {

/// The peaks of memory of the rank with most.
struct MemoryRow {
  std::string name;                                   ///< Of the bar.
  std::vector<std::pair<std::string, double>> bytes;  ///< By category.
  std::optional<double> peak;                         ///< Of all but `library` together.
};

/// The memory of the runs of a problem.
[[nodiscard]] std::vector<MemoryRow> memory_of(const Reader& reader, const Problem& problem);

/// A bar a run, its categories one after the other; nothing where no run has any.
[[nodiscard]] std::optional<Plot> memory_plot(const std::string& title,
                                              const std::vector<MemoryRow>& rows);

}  // namespace shardlab::results
