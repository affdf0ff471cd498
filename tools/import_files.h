#pragma once

#include <string>

#include "results/imported.h"

namespace shardlab {

/// A file to import, and those beside it.
///
/// Errors   Error{external} naming the file and the fault: missing, a folder, not readable.
[[nodiscard]] results::ImportSource import_source(const std::string& file);

/// When a file was last written, as a run stores it.
[[nodiscard]] std::string written_at(const std::string& file);

}  // namespace shardlab
