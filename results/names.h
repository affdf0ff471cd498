#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "engine/core/check.h"

namespace shardlab::results {

/// The enumerator whose place in `names` is that of `text`.
///
/// Errors   invalid: `text` is none of them; the error lists them after `what`.
template <typename Enum, std::size_t n>
Enum enum_from(const std::array<const char*, n>& names, std::string_view text, const char* what) {
  std::string known;
  for (std::size_t i = 0; i < n; ++i) {
    if (text == names[i]) return static_cast<Enum>(i);
    known += known.empty() ? names[i] : std::string(", ") + names[i];
  }
  fail(Fault::invalid, "{}: expected one of {}; found '{}'", what, known, text);
}

}  // namespace shardlab::results
