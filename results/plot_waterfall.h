#pragma once

#include <string>
#include <vector>

#include "results/plot.h"

namespace shardlab::results {

/// One step of a waterfall; times below zero lead back.
struct Part {
  std::string name;
  double seconds = 0;
};

/// Where the time of a step went: each part begins where the one before ends, and the last row is
/// the total.
[[nodiscard]] Plot waterfall_plot(const std::string& title, const std::vector<Part>& parts,
                                  const Part& total, bool predicted);

}  // namespace shardlab::results
