#pragma once

#include <string>
#include <vector>

namespace shardlab {

/// A table of at most 120 columns whose last one holds texts: they wrap instead of being cut.
class NotedTable {
 public:
  explicit NotedTable(std::vector<std::string> header);

  /// Rows with one text beside them; it takes more lines than there are rows where it must.
  void rows(std::vector<std::vector<std::string>> cells, std::string note);

  [[nodiscard]] std::string text() const;

 private:
  struct Block {
    std::vector<std::vector<std::string>> cells;
    std::string note;
  };

  std::vector<std::string> header_;
  std::vector<Block> blocks_;
};

}  // namespace shardlab
