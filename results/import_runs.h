#pragma once

#include "results/import_json.h"

namespace shardlab::results {

[[nodiscard]] bool is_runs(const nlohmann::json& file);

/// Reads what `shardlab export --json` and `shardlab show RUN --json` write; runs keep their uuids.
///
/// Errors   invalid with file and line naming the member that is missing or of another kind.
[[nodiscard]] Imported read_runs(const nlohmann::json& file, const std::string& name);

}  // namespace shardlab::results
