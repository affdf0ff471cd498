#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/imported.h"

namespace shardlab::results {

/// JSON in which numbers are written as JSON wants them: bare NaN and Infinity become null, decimal
/// commas points, and groups of digits are joined. Lines stay where they are; what was changed is
/// noted once a kind.
///
/// Which of comma and point is the decimal mark is told by the numbers with an exponent, which have
/// no groups.
[[nodiscard]] std::string repaired_json(std::string_view text, std::vector<ImportNote>& notes);

}  // namespace shardlab::results
