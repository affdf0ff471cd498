#pragma once

#include <string>

#include "results/database.h"
#include "results/run.h"

namespace shardlab::results {

/// Adds rows to a run inside the caller's transaction and returns what keeps the run from being
/// complete: the place of the first sample that is not finite, which is left out; empty if none.
///
/// Errors   As Store::append.
[[nodiscard]] std::string add_rows(Database& database, RunId run, const Rows& rows);

/// Adds steps and scopes to a run inside the caller's transaction.
///
/// Errors   As Store::append.
void add_timeline(Database& database, RunId run, const Timeline& timeline);

}  // namespace shardlab::results
