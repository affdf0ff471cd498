#pragma once

#include "engine/sim/explain.h"
#include "results/reader.h"
#include "results/run.h"
#include "tools/request.h"

namespace shardlab {

/// Where the time of a stored run goes.
struct Explained {
  sim::Waterfall waterfall;
  std::string ideal;  ///< What its ideal time is.
  std::string title;  ///< Lines: the run, the rank, the runs it is held against.
};

/// Errors   Error{unsupported}: it has no timeline, or no run of the same problem on one rank.
[[nodiscard]] Explained explain_stored(const results::Reader& reader, results::RunId run);

/// Where the time of stored runs, or of published rows, goes; `at` picks rows of so many ranks.
Exit explain_verb(const Scenarios& scenarios, const Request& request, int at);

}  // namespace shardlab
