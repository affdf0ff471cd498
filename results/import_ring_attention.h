#pragma once

#include "results/import_json.h"

namespace shardlab::results {

[[nodiscard]] bool is_ring_attention(const nlohmann::json& file);

/// Reads the JSON of the ring-attention benchmark of PhysicsNeMo, whose problem is that of the
/// scenario `ring_attention`; times are those of its rank 0.
///
/// Errors   invalid with file and line: sizes are not whole numbers, or no rank.
[[nodiscard]] Imported read_ring_attention(const nlohmann::json& file, const std::string& name);

}  // namespace shardlab::results
