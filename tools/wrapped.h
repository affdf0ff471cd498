#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace shardlab {

/// How wide printed text may be.
inline constexpr std::size_t page_columns = 120;

/// Pieces of at most `width` bytes, cut at spaces where there are any.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t width);

}  // namespace shardlab
