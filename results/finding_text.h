#pragma once

#include <string>
#include <vector>

#include "results/comparison.h"

namespace shardlab::results {

/// The words and numbers of a comparison that all of its faces share; none of them is escaped.

/// What a finding is of: `vit, float32, training, domain=2, on cpu: step_seconds`.
[[nodiscard]] std::string subject_text(const Finding& finding);

/// A value in the unit of its metric; predicted ones that are not exact begin with `~`.
[[nodiscard]] std::string value_text(const Finding& finding, double value);

/// The interval of one side in the unit of its value; empty where there is none, or no need of one.
[[nodiscard]] std::string interval_text(const Finding& finding,
                                        const std::optional<Evidence>& side);

/// The median of one side with its interval; `-` for a side that has no samples.
[[nodiscard]] std::string side_text(const Finding& finding, const std::optional<Evidence>& side);

/// How much larger the new side is: `+5.1 %`, its interval `+3.2 .. +7.0 %`, and both as
/// `+5.1 % (+3.2 .. +7.0 %)`.
[[nodiscard]] std::string ratio_text(const Finding& finding);
[[nodiscard]] std::string ratio_interval_text(const Finding& finding);
[[nodiscard]] std::string change_text(const Finding& finding);

/// What the test of a finding says, a line each: p, the smallest change that would be found.
[[nodiscard]] std::vector<std::string> test_text(const Finding& finding);

/// Fields that differ: `differs in processor, compiler`; empty where none does.
[[nodiscard]] std::string differing_text(const Finding& finding);

/// What stands behind the verdict, a line each: samples, commits and runs of both sides, p, the
/// smallest change that would be found, fields that differ, causes.
[[nodiscard]] std::vector<std::string> evidence_text(const Finding& finding);

/// Findings of the same series together, the series with the worst finding first.
[[nodiscard]] std::vector<std::vector<const Finding*>> by_series(const Comparison& comparison);

/// `1 worse, 2 undecided, 5 same`: the worst first, only what occurs.
[[nodiscard]] std::string counts_text(const Comparison& comparison);

}  // namespace shardlab::results
