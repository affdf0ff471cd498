#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "results/change.h"
#include "results/series_runs.h"
#include "results/turns.h"

namespace shardlab::results {

/// A finding, and the change that decides it once all tests of the report are known.
struct Pending {
  Finding finding = {};
  std::optional<Change> change = {};
};

/// What two sides of a comparison are read from.
struct Sides {
  const Side& base;
  const Side& next;
  const ComparisonOptions& options;

  /// What `samples_of` has read, by the newest runs of both sides and the metric: verdicts on
  /// times, curves and drift ask for the same.
  mutable std::map<std::tuple<std::int64_t, std::int64_t, std::string>, Samples> read = {};
};

/// The findings of a series that both sides have, or one of them.
[[nodiscard]] std::vector<Pending> compare_series(const SeriesPair& pair, const Sides& sides,
                                                  std::vector<std::string>& notes);

/// Two runs that name the same pair.
struct RunPair {
  RunInfo base;
  Turns base_turns = {};
  RunInfo next;
  Turns next_turns = {};
};

/// Runs of both sides whose environments are equal but for what is allowed to differ, the newest
/// ones; else the fields in which those of the newest runs differ.
struct Comparable {
  std::vector<RunInfo> base = {};
  std::vector<RunInfo> next = {};
  std::vector<std::string> differing = {};
  std::vector<RunPair> pairs = {};  ///< Runs that were measured beside each other, oldest first.
};

[[nodiscard]] Comparable comparable_runs(const SeriesPair& pair, const Sides& sides);

/// What was sampled in those runs, oldest run first.
[[nodiscard]] Samples samples_of(const Comparable& runs, const Sides& sides,
                                 std::string_view metric);

}  // namespace shardlab::results
