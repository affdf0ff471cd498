#pragma once

#include <string>
#include <string_view>

namespace shardlab::results {

enum class Better { lower, higher, none };

/// How the values of the ranks of one iteration become one value.
enum class AcrossRanks { max, min, sum };

/// What a number measures and how it may be compared.
struct Metric {
  std::string name = {};
  std::string unit = {};
  bool exact = false;  ///< Equal on every machine; see needs_equal_environment.
  Better better = Better::lower;
  AcrossRanks across_ranks = AcrossRanks::max;

  bool operator==(const Metric&) const = default;
};

/// True if two values compare only where the environments of their runs are equal.
///
/// The series must be equal always.
[[nodiscard]] inline bool needs_equal_environment(const Metric& metric) { return !metric.exact; }

[[nodiscard]] const char* name_of(Better better);
[[nodiscard]] const char* name_of(AcrossRanks across_ranks);
[[nodiscard]] Better better_from(std::string_view name);
[[nodiscard]] AcrossRanks across_ranks_from(std::string_view name);

/// The metrics of every scenario run.
///
/// Units    In the metric: s, B, flop, or 1 for counts and the loss.
[[nodiscard]] Metric step_seconds();
[[nodiscard]] Metric loss();
[[nodiscard]] Metric bytes_sent();   ///< Of an iteration, all ranks together.
[[nodiscard]] Metric flop();         ///< Of an iteration, all ranks together.
[[nodiscard]] Metric collectives();  ///< Of an iteration, the rank with most.
[[nodiscard]] Metric dispatches();   ///< Of an iteration, the rank with most.
[[nodiscard]] Metric peak_bytes();   ///< Of the engine, the rank with most.

/// The peak of one memory category; `library` is measured, all others are exact.
[[nodiscard]] Metric peak_bytes(std::string_view category);

}  // namespace shardlab::results
