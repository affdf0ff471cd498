#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "engine/sim/published_logs.h"

namespace shardlab {

/// What `shardlab reproduce` calls the logs of collectives.
inline constexpr const char* collectives_name = "collectives";

/// The logs that are part of the program.
[[nodiscard]] std::vector<sim::PublishedLog> published_collectives();

/// Each log beside its prediction, corrected by the other logs of its fabric; what is not judged
/// and why; pooled errors by size, and how many rows lie within the stated intervals.
void print(const std::vector<sim::PublishedLog>& logs);

/// The same for programs.
[[nodiscard]] nlohmann::json json_of(const std::vector<sim::PublishedLog>& logs);

}  // namespace shardlab
