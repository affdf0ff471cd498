#pragma once

#include <string>

#include "results/plot.h"

namespace shardlab::results {

/// What a picture is seen on: `both` follows what the reader's screen asks for, and paper is light.
enum class Theme : std::uint8_t { light, dark, both };

/// The style rules and the patterns that svg_of needs, once a page.
[[nodiscard]] std::string svg_style(Theme theme);
[[nodiscard]] std::string svg_patterns();

/// A plot as an element of a page; every text of it is escaped.
[[nodiscard]] std::string svg_of(const Plot& plot);

/// A plot as a file of its own, with its title.
[[nodiscard]] std::string svg_file(const Plot& plot, Theme theme);

}  // namespace shardlab::results
