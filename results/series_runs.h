#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/side.h"

namespace shardlab::results {

/// The runs of one series on one side of a comparison.
struct SeriesRuns {
  SeriesKey series = {};
  std::vector<RunInfo> runs = {};  ///< Complete ones of one commit an environment, newest first.
  std::optional<RunInfo> ended_bad = {};  ///< The newest that is not complete, where none is.
};

/// The series of a side, each with the runs that stand for it: of each environment those of the
/// commit that ran last. What is left out is said in `notes`.
[[nodiscard]] std::vector<SeriesRuns> series_of(const Side& side, std::vector<std::string>& notes);

/// A series that both sides have, or one of them; a null pointer where a side has it not.
struct SeriesPair {
  const SeriesRuns* base = nullptr;
  const SeriesRuns* next = nullptr;
};

/// Joins two sides by series; those that are left by the series without its `allowed` fields, where
/// that leaves one on each side.
[[nodiscard]] std::vector<SeriesPair> join(const std::vector<SeriesRuns>& base,
                                           const std::vector<SeriesRuns>& next,
                                           const std::vector<std::string>& allowed);

/// A series in a few words: `vit domain=2, float32, training`.
[[nodiscard]] std::string short_name(const SeriesKey& series);

/// The fields in which two keys differ, but for the allowed ones.
[[nodiscard]] std::vector<std::string> differences_but(const Fields& a, const Fields& b,
                                                       const std::vector<std::string>& allowed);

}  // namespace shardlab::results
