#pragma once

#include "results/import_json.h"

namespace shardlab::results {

[[nodiscard]] bool is_hyperfine(const nlohmann::json& file);

/// Reads the JSON of hyperfine: one run a command, the command and its parameters being the
/// parameters of the scenario `hyperfine`.
[[nodiscard]] Imported read_hyperfine(const nlohmann::json& file);

}  // namespace shardlab::results
