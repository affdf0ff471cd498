#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shardlab::results {

/// A row of a CSV text.
struct CsvRow {
  int line = 0;
  std::vector<std::string> cells;
};

/// Reads rows as RFC 4180 has them; cells in quotes may hold commas, quotes and ends of line. Empty
/// lines and a byte order mark are left out.
///
/// Errors   invalid with `name:line`: a quote that is never closed.
[[nodiscard]] std::vector<CsvRow> read_csv(std::string_view text, const std::string& name);

/// A cell as RFC 4180 has it. A text that a spreadsheet would take for a formula gets an apostrophe
/// before it, and bytes that are no UTF-8 become the replacement character.
[[nodiscard]] std::string csv_text(std::string_view text);

}  // namespace shardlab::results
