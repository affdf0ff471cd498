#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "results/query.h"

namespace shardlab::results {

/// The runs that one side of a comparison consists of.
struct Side {
  std::string title = {};  ///< As typed, with what it stands for.
  std::shared_ptr<const Reader> reader = {};
  std::vector<RunInfo> runs = {};  ///< Newest first.
  bool one_run = false;            ///< A run was named: other series are not asked for.
};

/// Finds what a person means by a database file, a run (number or first letters of its uuid), a
/// commit (7 letters or more), a branch, or a date such as `2031-02-03`, all but the first in the
/// database file `database`, tried in this order.
///
/// Errors   invalid: nothing is meant, or several runs or commits; external: as open_for_reading.
[[nodiscard]] Side find_side(const std::string& text, const std::string& database);

}  // namespace shardlab::results
