#pragma once

#include <filesystem>
#include <vector>

#include "tools/exact.h"

namespace shardlab {

/// Writes `quantities.tsv`, one line a series, and `parts.tsv`, which says where they come from.
///
/// Errors   external: a file that cannot be written.
void write_exact(const std::filesystem::path& folder, const std::vector<ExactSeries>& series);

/// The series of a folder; none where it has no `quantities.tsv`.
///
/// Errors   invalid: naming file and line and what is wrong there.
[[nodiscard]] std::vector<ExactSeries> read_exact(const std::filesystem::path& folder);

}  // namespace shardlab
