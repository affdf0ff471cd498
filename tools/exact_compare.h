#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "results/comparison.h"
#include "tools/exact.h"

namespace shardlab {

/// Every quantity that differs, with what grew and where; equal ones are no findings.
///
/// A series that only one side has is one finding, and so are parts that moved from one place to
/// another without changing a sum.
[[nodiscard]] results::Comparison compare_exact(const std::vector<ExactSeries>& base,
                                                const std::vector<ExactSeries>& next);

/// The findings for programs; `committed` and `now` are null where a side has no number.
[[nodiscard]] nlohmann::json exact_json(const results::Comparison& comparison);

/// The findings for people, and the command that accepts them; empty if there are none.
[[nodiscard]] std::string exact_text(const results::Comparison& comparison,
                                     const std::string& command);

}  // namespace shardlab
