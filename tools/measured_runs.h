#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/sim/kernel_fit.h"
#include "results/series.h"

namespace shardlab {

/// What runs of one environment measured, as far as it can correct a machine.
struct MeasuredRuns {
  results::EnvironmentKey environment;
  std::vector<std::int64_t> runs;            ///< Whose kernels these are, rising.
  std::vector<sim::MeasuredKernel> kernels;  ///< Of all runs and ranks, equal work together.
  std::vector<std::pair<std::int64_t, sim::Machine>> probes;  ///< By their runs, rising.
  std::string first_day;                                      ///< As `2031-02-03`.
  std::string last_day;
  std::vector<std::string> notes;  ///< What was not used, and why.
};

/// Whether a file holds a SQLite database, by its first bytes.
[[nodiscard]] bool is_database(const std::string& file);

/// Reads the measured runs of a database that have kernels or collectives of `machine`: complete
/// ones, with no more ranks than cores, on this kind of processor; only `chosen` ones unless empty.
///
/// Errors   Error{unsupported} without such runs, or with runs of several environments, naming what
///          they differ in; Error{invalid} for a chosen run that cannot be used or does not exist.
[[nodiscard]] MeasuredRuns measured_runs(const std::string& database, const sim::Machine& machine,
                                         const std::vector<std::string>& chosen);

}  // namespace shardlab
