#pragma once

#include <fmt/format.h>

#include <source_location>
#include <string_view>
#include <type_traits>

#include "engine/core/error.h"

namespace shardlab {

/// A format string that remembers who wrote it, so that errors name the caller's file and line.
template <typename... Args>
struct Format {
  template <typename Text>
  consteval Format(const Text& text,  // NOLINT: converts from a literal on purpose
                   std::source_location where = std::source_location::current())
      : text(text), where(where) {}

  fmt::format_string<Args...> text;
  std::source_location where;
};

/// Throws Error with a formatted text.
///
/// Example  fail(Fault::unsupported, "{}: no kernel for {}", op, dtype);
template <typename... Args>
[[noreturn]] void fail(Fault fault, Format<std::type_identity_t<Args>...> format, Args&&... args) {
  throw Error(fault, fmt::format(format.text, std::forward<Args>(args)...), format.where);
}

/// Throws Error{invalid} with a formatted text unless `ok`.
///
/// Cost     One branch when `ok`; the text is formatted only on failure.
/// Example  check(a == b, "matmul: inner sizes differ: {} and {}", a, b);
template <typename... Args>
void check(bool ok, Format<std::type_identity_t<Args>...> format, Args&&... args) {
  if (!ok) [[unlikely]]
    throw Error(Fault::invalid, fmt::format(format.text, std::forward<Args>(args)...),
                format.where);
}

/// Throws Error{internal} with a formatted text unless `ok`: a broken promise of shardlab itself.
template <typename... Args>
void expect(bool ok, Format<std::type_identity_t<Args>...> format, Args&&... args) {
  if (!ok) [[unlikely]]
    throw Error(Fault::internal, fmt::format(format.text, std::forward<Args>(args)...),
                format.where);
}

}  // namespace shardlab
