#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/comparison.h"
#include "results/ratio.h"

namespace shardlab::results {

/// How the samples of two sides lie in time.
enum class Taken : std::uint8_t {
  pairs,       ///< Each beside the other one of its pair.
  mixed,       ///< Runs of both sides among each other.
  apart,       ///< The runs of one side after those of the other.
  iterations,  ///< Of too few runs to compare runs.
};

/// What was sampled of one quantity on two sides.
struct Samples {
  std::vector<double> base = {};
  std::vector<double> next = {};
  Taken taken = Taken::pairs;
};

/// How far they differ, and how surely, before any verdict.
struct Change {
  double base = 0;  ///< Median.
  double next = 0;
  std::int64_t base_units = 0;  ///< Values that tell of each other no more than chance.
  std::int64_t next_units = 0;
  Ratio ratio;
  double p = 1;        ///< Of a rank test: chance alone does this.
  double least_p = 1;  ///< The smallest p that so many units reach.
  Taken taken = Taken::pairs;
};

/// Medians, their ratio with its interval, and p: signed ranks of pairs, else the U test.
///
/// Where neighbours resemble each other, or there are more than 400 values, medians of consecutive
/// blocks take their place.
///
/// Errors   invalid: as ratio_of and paired_ratio_of.
[[nodiscard]] Change change_of(const Samples& samples, std::uint64_t seed = 1);

/// What is said of a change.
struct Judgement {
  Verdict verdict = Verdict::undecided;
  std::string reason;
  std::optional<double> detectable;  ///< A relative change that 4 in 5 such reports find.
};

/// The one rule for everything that is measured.
///
/// Worse or better: the interval of the ratio lies beyond the floor, or `apart_floor` where one
/// side ran after the other, the adjusted p is below the significance, and the medians differ by
/// more than `least_seconds` where they are seconds. Same: the interval lies inside the floor both
/// ways. Not enough: so few units reach no such p. Undecided: all else, and whatever iterations of
/// too few runs show, unless `iterations` says that they are enough.
[[nodiscard]] Judgement judge(const Change& change, const Metric& metric, double adjusted_p,
                              const ComparisonOptions& options);

/// The fewest runs a side whose p can fall below the significance.
[[nodiscard]] std::size_t least_runs(double significance);

/// The fewest pairs whose p can fall below the significance.
[[nodiscard]] std::size_t least_pairs(double significance);

/// What more of a metric is called: `slower`, `more`, and so on.
[[nodiscard]] const char* word_for(const Metric& metric, bool more);

}  // namespace shardlab::results
