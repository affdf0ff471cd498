#pragma once

#include <string>

namespace shardlab {

/// Writes a whole text file.
///
/// Errors   Error{external} naming the file.
void write_text(const std::string& path, const std::string& text);

/// Draws an SVG file as a PNG picture of `scale` times its size.
///
/// Errors   Error{unsupported}: this build has no librsvg, and which package brings it;
///          Error{external} naming the file.
void write_png(const std::string& path, const std::string& svg, double scale);

}  // namespace shardlab
