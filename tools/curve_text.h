#pragma once

#include <string>
#include <vector>

#include "results/scaling.h"
#include "results/series_text.h"

namespace shardlab {

using results::is_probe;
using results::mode_of;
using results::parameters_of;
using results::place_of;
using results::title_of;

/// The table of a scaling curve; below a measured one what else `all` knows of its meshes.
///
/// Predicted times begin with `~`; bytes, which are counted in every execution, do not.
[[nodiscard]] std::string curve_text(const results::Reader& reader, const results::Curve& curve,
                                     const std::vector<results::Curve>& all);

/// Curves as a JSON array; what is not known is null.
[[nodiscard]] std::string curves_json(const std::vector<const results::Curve*>& curves,
                                      const std::vector<results::Curve>& all);

}  // namespace shardlab
