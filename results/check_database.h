#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/schema.h"
#include "results/tables.h"

namespace shardlab::results {

/// What a look at every row of a database found.
struct DatabaseCheck {
  std::int64_t version = 0;  ///< Of the schema, as in the file.
  std::int64_t runs = 0;
  std::int64_t series = 0;
  std::int64_t samples = 0;
  std::vector<std::string> problems = {};  ///< What must not be.
  std::vector<std::string> remarks = {};   ///< What may be, and may be a surprise.
};

/// Looks at a database without changing it: pages, keys, schema, numbers, and texts that others
/// depend on.
///
/// Cost     Reads all of it.
/// Errors   external, as open_for_reading: what cannot be opened cannot be checked.
[[nodiscard]] DatabaseCheck check_database(const std::string& path,
                                           const OpenOptions& options = {});

/// The problems alone, of an open database that should have these tables.
[[nodiscard]] std::vector<std::string> problems_of(Database& database,
                                                   const std::vector<TableShape>& expected);

}  // namespace shardlab::results
