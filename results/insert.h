#pragma once

#include <string>

#include "results/database.h"
#include "results/run.h"

namespace shardlab::results {

/// The row of a key, which is added where it is not there; inside the caller's transaction.
///
/// Errors   invalid: the metric is stored with another unit or meaning.
[[nodiscard]] std::int64_t intern_series(Database& database, const SeriesKey& key);
[[nodiscard]] std::int64_t intern_environment(Database& database, const EnvironmentKey& key);
[[nodiscard]] std::int64_t intern_metric(Database& database, const Metric& metric);

/// What a run is besides its header.
struct RunState {
  std::string uuid = {};
  RunStatus status = RunStatus::running;
  std::string reason = {};
  std::string writer = {};  ///< The process that writes it; empty: it writes no more.
};

/// Adds a run inside the caller's transaction; the header is as a store has checked it.
RunId insert_run(Database& database, const RunHeader& header, const RunState& state);

}  // namespace shardlab::results
