#pragma once

#include <string>
#include <vector>

namespace shardlab {

/// The commits of the git repository of the current folder, ancestors first; none outside of one.
[[nodiscard]] std::vector<std::string> commit_order();

}  // namespace shardlab
