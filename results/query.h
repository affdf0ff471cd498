#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/reader.h"
#include "results/run.h"

namespace shardlab::results {

struct RunFilter {
  std::string scenario = {};  ///< Empty: all.
  std::int64_t limit = -1;    ///< The newest so many; negative: all.
};

/// Runs, newest first.
///
/// Cost     Proportional to the runs listed; samples are not touched.
[[nodiscard]] std::vector<RunInfo> list_runs(const Reader& reader, const RunFilter& filter = {});

/// The run that a person means by a number or by the first letters of a uuid.
///
/// Errors   invalid: none, or several uuids begin so.
[[nodiscard]] RunId find_run(const Reader& reader, std::string_view text);

/// A run with all samples of all ranks.
///
/// Errors   invalid: no such run.
[[nodiscard]] StoredRun read_run(const Reader& reader, RunId run);

/// What the machine did while a run was measured: a JSON object.
///
/// Errors   invalid: no such run.
[[nodiscard]] std::string state_of(const Reader& reader, RunId run);

/// The metrics that a run has samples of.
[[nodiscard]] std::vector<Metric> metrics_of(const Reader& reader, RunId run);

/// Which ranks of a predicted run stand for others.
[[nodiscard]] std::vector<Fold> folds_of(const Reader& reader, RunId run);

/// The environment of a run.
///
/// Errors   invalid: no such run.
[[nodiscard]] EnvironmentKey environment_of(const Reader& reader, RunId run);

/// Steps and scopes, of one rank or of all, in order of rank, iteration and program.
[[nodiscard]] Timeline read_timeline(const Reader& reader, RunId run,
                                     std::optional<std::int32_t> rank = {});

}  // namespace shardlab::results
