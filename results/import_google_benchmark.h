#pragma once

#include "results/import_json.h"

namespace shardlab::results {

[[nodiscard]] bool is_google_benchmark(const nlohmann::json& file);

/// Reads the JSON of Google Benchmark: repetitions become iterations, errors skipped runs, and
/// aggregates, whose times may be ratios, are left out where their samples are there.
[[nodiscard]] Imported read_google_benchmark(const nlohmann::json& file);

}  // namespace shardlab::results
