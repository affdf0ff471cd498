#include "results/csv.h"

#include <nlohmann/json.hpp>

#include "engine/core/check.h"

namespace shardlab::results {

std::vector<CsvRow> read_csv(std::string_view text, const std::string& name) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  std::vector<CsvRow> rows;
  int line = 1;
  for (std::size_t at = 0; at < text.size();) {
    CsvRow row{line, {""}};
    bool quoted = false;
    for (; at < text.size(); ++at) {
      const char c = text[at];
      if (c == '\n') ++line;
      if (quoted) {
        if (c != '"')
          row.cells.back() += c;
        else if (at + 1 < text.size() && text[at + 1] == '"')
          row.cells.back() += text[++at];
        else
          quoted = false;
      } else if (c == '"' && row.cells.back().empty()) {
        quoted = true;
      } else if (c == ',') {
        row.cells.emplace_back();
      } else if (c == '\n') {
        break;
      } else if (c != '\r' || (at + 1 < text.size() && text[at + 1] != '\n')) {
        row.cells.back() += c;
      }
    }
    ++at;
    check(!quoted, "{}:{}: a quote is never closed", name, row.line);
    if (row.cells.size() > 1 || !row.cells[0].empty()) rows.push_back(std::move(row));
  }
  return rows;
}

std::string csv_text(std::string_view text) {
  using nlohmann::json;
  const json replaced =
      json::parse(json(std::string(text)).dump(-1, ' ', false, json::error_handler_t::replace));
  std::string cell = replaced.get<std::string>();
  if (!cell.empty() && std::string_view("=+-@\t\r").find(cell[0]) != std::string_view::npos)
    cell.insert(0, 1, '\'');
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace shardlab::results
