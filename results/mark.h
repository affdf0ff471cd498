#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "results/reader.h"
#include "results/series.h"

namespace shardlab::results {

/// A shift of a metric that somebody accepted.
struct Mark {
  SeriesKey series = {};
  std::string metric = {};
  std::string commit = {};   ///< The first with the new level; see HistoryPoint::commit.
  std::string note = {};     ///< Why.
  std::string created = {};  ///< UTC; set when it is stored.
};

/// All that was accepted of a metric, in the order in which it was.
[[nodiscard]] std::vector<Mark> read_marks(const Reader& reader, std::string_view metric);

/// Writes a mark inside the caller's transaction.
///
/// Errors   As Store::accept.
void add_mark(Database& database, const Mark& mark, const std::string& created);

/// Removes a mark inside the caller's transaction; 0 if there is none.
[[nodiscard]] std::int64_t remove_mark(Database& database, const Mark& mark);

}  // namespace shardlab::results
