#pragma once

#include <map>
#include <string>
#include <vector>

#include "results/database.h"

namespace shardlab::results {

/// A table as its database describes it.
struct TableShape {
  std::string name = {};
  std::vector<std::string> columns = {};            ///< In their order, without `id`.
  std::vector<std::string> real_columns = {};       ///< Those that hold numbers with a point.
  std::vector<std::string> key = {};                ///< Columns of the primary key, without `id`.
  std::map<std::string, std::string> parents = {};  ///< Column to the table that it points into.
  bool has_id = false;

  /// Where a column is among `columns`, from 1, as statements count; 0 if there is none.
  [[nodiscard]] int place(const std::string& column) const;
};

/// The tables of a database in the order they were made: parents before their children.
[[nodiscard]] std::vector<TableShape> tables_of(Database& database);

}  // namespace shardlab::results
