#include "tools/table.h"

#include <algorithm>
#include <cctype>

#include "results/one_line.h"

namespace shardlab {
namespace {

/// Columns that a UTF-8 text takes, counting each character as one.
std::size_t columns(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

bool numeric(const std::string& text) {
  return !text.empty() && (std::isdigit(static_cast<unsigned char>(text[0])) != 0 ||
                           text[0] == '-' || text[0] == '~');
}

}  // namespace

Table::Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }

void Table::row(std::vector<std::string> cells) {
  cells.resize(rows_[0].size());
  for (std::string& cell : cells) cell = results::one_line(std::move(cell));
  rows_.push_back(std::move(cells));
}

std::string Table::text(std::size_t width) const {
  const std::size_t count = rows_[0].size();
  std::vector<std::size_t> widths(count, 0);
  std::vector<bool> right(count, rows_.size() > 1);
  for (std::size_t r = 0; r < rows_.size(); ++r)
    for (std::size_t c = 0; c < count; ++c) {
      widths[c] = std::max(widths[c], columns(rows_[r][c]));
      if (r > 0 && !rows_[r][c].empty() && !numeric(rows_[r][c])) right[c] = false;
    }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < count; ++c) {
      const std::string space(widths[c] - columns(row[c]), ' ');
      line += c == 0 ? "" : "  ";
      line += right[c] ? space + row[c] : row[c] + space;
    }
    while (columns(line) > width) {
      while ((line.back() & 0xC0) == 0x80) line.pop_back();
      line.pop_back();
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace shardlab
