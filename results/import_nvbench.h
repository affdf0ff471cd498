#pragma once

#include "results/import_json.h"

namespace shardlab::results {

[[nodiscard]] bool is_nvbench(const nlohmann::json& file);

/// Reads the JSON of nvbench, whose whole numbers are texts: one run a state, samples from the
/// files beside it where they are there, else the mean.
[[nodiscard]] Imported read_nvbench(const nlohmann::json& file, const ImportSource& source);

}  // namespace shardlab::results
