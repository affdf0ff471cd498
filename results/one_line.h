#pragma once

#include <string>

namespace shardlab::results {

/// A stored text as a terminal may show it: ends of line become blanks, and what it would take as a
/// command becomes `?`.
[[nodiscard]] std::string one_line(std::string text);

}  // namespace shardlab::results
