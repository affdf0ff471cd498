#pragma once

#include <string>

#include "results/schema.h"

namespace shardlab::results {

/// A connection to a database that is created or migrated where needed, with foreign keys on.
///
/// Errors   As Store.
[[nodiscard]] Database open_for_writing(const std::string& path, const OpenOptions& options);

}  // namespace shardlab::results
