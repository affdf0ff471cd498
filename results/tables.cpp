#include "results/tables.h"

#include <algorithm>

namespace shardlab::results {

int TableShape::place(const std::string& column) const {
  const auto found = std::find(columns.begin(), columns.end(), column);
  return found == columns.end() ? 0 : static_cast<int>(found - columns.begin()) + 1;
}

std::vector<TableShape> tables_of(Database& database) {
  std::vector<TableShape> tables;
  Statement names(database,
                  "SELECT name FROM sqlite_schema WHERE type = 'table'"
                  " AND name NOT LIKE 'sqlite_%' ORDER BY rowid");
  while (names.step()) tables.push_back({.name = names.text(0)});
  for (TableShape& table : tables) {
    Statement columns(database, "SELECT name, type, pk FROM pragma_table_info(?)");
    for (columns.bind(table.name); columns.step();) {
      const std::string name = columns.text(0);
      if (name == "id") {
        table.has_id = true;
        continue;
      }
      table.columns.push_back(name);
      if (columns.text(1) == "REAL") table.real_columns.push_back(name);
      if (columns.integer(2) > 0) table.key.push_back(name);
    }
    Statement parents(database, "SELECT \"from\", \"table\" FROM pragma_foreign_key_list(?)");
    for (parents.bind(table.name); parents.step();)
      table.parents[parents.text(0)] = parents.text(1);
  }
  return tables;
}

}  // namespace shardlab::results
