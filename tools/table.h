#pragma once

#include <string>
#include <vector>

#include "results/show.h"

namespace shardlab {

/// A table for people: a header, rows, columns as wide as they need, numbers to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> header);
  void row(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const { return rows_.size() == 1; }

  /// Lines of at most `width` columns; the last column is cut where it does not fit.
  [[nodiscard]] std::string text(std::size_t width = 120) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

using results::show_byte_range;
using results::show_bytes;
using results::show_flop;
using results::show_percent;
using results::show_range;
using results::show_seconds;

}  // namespace shardlab
