#pragma once

#include <cstddef>
#include <string>

#include "results/comparison.h"

namespace shardlab::results {

/// A comment of a pull request takes no more characters.
inline constexpr std::size_t most_markdown = 65'000;

/// GitHub shows no more annotations of one kind of one step.
inline constexpr std::int64_t most_annotations = 10;

/// A comparison as Markdown for a pull request: counts, what is not the same as a table, the
/// evidence and what is the same folded.
///
/// What does not fit into `most_markdown` bytes is counted in its last line.
[[nodiscard]] std::string markdown_of(const Comparison& comparison);

/// A comparison as JUnit XML: a suite for each family of metrics, a case for each finding, its
/// numbers as properties.
///
/// Worse is a failure; undecided, not comparable, not enough data and vanished are skipped.
[[nodiscard]] std::string junit_of(const Comparison& comparison);

/// A comparison as lines that GitHub turns into annotations: worse are errors, what could not be
/// compared warnings, all else that is not the same notices, the first of which counts all.
///
/// The last line of a kind counts those that do not fit into `most_annotations`.
[[nodiscard]] std::string annotations_of(const Comparison& comparison);

/// A comparison as a part of a page.
[[nodiscard]] std::string html_of(const Comparison& comparison);

}  // namespace shardlab::results
