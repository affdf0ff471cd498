#pragma once

#include <string>

namespace shardlab {

/// Refuses a path where a database is, which what is written there would destroy.
///
/// Errors   Error{invalid} naming the file.
void spare_database(const std::string& path);

/// Writes a whole text file.
///
/// Errors   Error{external} naming the file; as `spare_database`.
void write_text(const std::string& path, const std::string& text);

/// Draws an SVG file as a PNG picture of `scale` times its size.
///
/// Errors   Error{unsupported}: this build has no librsvg, and which package brings it;
///          Error{external} naming the file.
void write_png(const std::string& path, const std::string& svg, double scale);

}  // namespace shardlab
