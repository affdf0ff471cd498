#pragma once

#include <vector>

#include "results/run.h"
#include "tools/request.h"

namespace shardlab {

/// Prints the scaling tables of the problems that these runs belong to.
void print_runs(const Request& request, const std::vector<results::RunId>& runs);

}  // namespace shardlab
