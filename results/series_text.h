#pragma once

#include <map>
#include <string>

#include "results/series.h"

namespace shardlab::results {

/// Training or inference, and whether scaling is weak.
[[nodiscard]] std::string mode_of(const SeriesKey& series);

/// Where it ran, or what it was predicted or published for: `cpu`, `~dgx-h100:8`, `published`.
[[nodiscard]] std::string place_of(const SeriesKey& series);

/// Whether its runs hold the machine that `shardlab probe` measured, and no samples.
[[nodiscard]] bool is_probe(const SeriesKey& series);

/// Before numbers of it that are predicted and not counted: `~`, else nothing.
[[nodiscard]] const char* mark_of(const SeriesKey& series);

/// One line that says what a series is, but its parameters.
[[nodiscard]] std::string title_of(const SeriesKey& series);

/// Each parameter with its value as text.
///
/// Errors   invalid: they are no JSON object.
[[nodiscard]] std::map<std::string, std::string> parameter_values(const SeriesKey& series);

/// Parameters on lines of at most so many columns, all but the first of which are indented.
[[nodiscard]] std::string parameters_of(const SeriesKey& series, std::size_t columns = 110);

}  // namespace shardlab::results
