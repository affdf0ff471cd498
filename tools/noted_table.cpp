#include "tools/noted_table.h"

#include <algorithm>
#include <sstream>

#include "tools/table.h"
#include "tools/wrapped.h"

namespace shardlab {
namespace {

constexpr std::size_t narrowest = 20;

}  // namespace

NotedTable::NotedTable(std::vector<std::string> header) : header_(std::move(header)) {}

void NotedTable::rows(std::vector<std::vector<std::string>> cells, std::string note) {
  blocks_.push_back({std::move(cells), std::move(note)});
}

std::string NotedTable::text() const {
  const std::size_t last = header_.size() - 1;
  Table table({header_.begin(), header_.end() - 1});
  std::size_t taken = 0;
  for (std::size_t c = 0; c < last; ++c) {
    std::size_t widest = header_[c].size();
    for (const Block& block : blocks_)
      for (const auto& row : block.cells)
        if (c < row.size()) widest = std::max(widest, row[c].size());
    taken += widest + 2;
  }
  const std::size_t width = std::max(narrowest, page_columns - std::min(page_columns, taken));
  std::vector<std::string> notes{header_[last]};
  for (const Block& block : blocks_) {
    std::vector<std::string> lines = wrapped(block.note, width);
    const std::size_t count = std::max(lines.size(), block.cells.size());
    lines.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      table.row(i < block.cells.size() ? block.cells[i] : std::vector<std::string>{});
      notes.push_back(lines[i]);
    }
  }
  std::string text;
  std::istringstream lines(table.text(page_columns));
  for (const std::string& note : notes) {
    std::string line;
    std::getline(lines, line);
    if (!note.empty()) line += std::string(taken - std::min(taken, line.size()), ' ') + note;
    text += line + '\n';
  }
  return text;
}

}  // namespace shardlab
