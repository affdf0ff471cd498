#pragma once

#include <string>
#include <string_view>

namespace shardlab::results {

/// A hash as 32 hexadecimal digits, for recognising equal texts; no defence against forgery.
///
/// Source   FNV-1a, 128 bit.
[[nodiscard]] std::string digest(std::string_view text);

}  // namespace shardlab::results
