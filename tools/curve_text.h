#pragma once

#include <string>
#include <vector>

#include "results/scaling.h"

namespace shardlab {

/// Training or inference, and whether scaling is weak.
[[nodiscard]] std::string mode_of(const results::SeriesKey& series);

/// Where it ran, or what it was predicted or published for: `cpu`, `~dgx-h100:8`, `published`.
[[nodiscard]] std::string place_of(const results::SeriesKey& series);

/// Whether its runs hold the machine that `shardlab probe` measured, and no samples.
[[nodiscard]] bool is_probe(const results::SeriesKey& series);

/// One line that says what a series is, but its parameters.
[[nodiscard]] std::string title_of(const results::SeriesKey& series);

/// Parameters on lines of at most 110 columns.
[[nodiscard]] std::string parameters_of(const results::SeriesKey& series);

/// The table of a scaling curve; below a measured one what else `all` knows of its meshes.
///
/// Predicted times begin with `~`; bytes, which are counted in every execution, do not.
[[nodiscard]] std::string curve_text(const results::Reader& reader, const results::Curve& curve,
                                     const std::vector<results::Curve>& all);

/// Curves as a JSON array; what is not known is null.
[[nodiscard]] std::string curves_json(const std::vector<const results::Curve*>& curves,
                                      const std::vector<results::Curve>& all);

}  // namespace shardlab
