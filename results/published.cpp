#include "results/published.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "engine/core/check.h"

namespace shardlab::results {
namespace {

class Lines {
 public:
  Lines(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  bool next(std::string_view& line) {
    if (rest_.empty()) return false;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line = rest_.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    rest_.remove_prefix(std::min(rest_.size(), end + 1));
    ++number_;
    return true;
  }

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] std::string where() const { return fmt::format("{}:{}", name_, number_); }

 private:
  std::string_view rest_;
  const std::string& name_;
  int number_ = 0;
};

std::vector<std::string> cells_of(std::string_view line, char at) {
  std::vector<std::string> cells;
  while (true) {
    const std::size_t end = line.find(at);
    cells.emplace_back(line.substr(0, end));
    if (end == std::string_view::npos) return cells;
    line.remove_prefix(end + 1);
  }
}

double number_of(const std::string& cell, const std::string& where, const std::string& column) {
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  check(
      error == std::errc() && end == cell.data() + cell.size() && value > 0 && std::isfinite(value),
      "{}: {} '{}' is not a positive number", where, column, cell);
  return value;
}

int count_of(const std::string& cell, const std::string& where, const std::string& column) {
  const double value = number_of(cell, where, column);
  check(value == std::floor(value) && value <= 1e6,
        "{}: {} '{}' is no whole number up to a million", where, column, cell);
  return static_cast<int>(value);
}

void read_key(PublishedRows& rows, std::string_view line, const std::string& where) {
  line.remove_prefix(std::min<std::size_t>(2, line.size()));
  const std::size_t colon = line.find(": ");
  const std::string key(line.substr(0, std::min(colon, line.size())));
  if (colon == std::string_view::npos || key.find(' ') != std::string::npos) {
    if (rows.title.empty()) rows.title = line;
    return;
  }
  const std::string value(line.substr(colon + 2));
  if (key == "source") {
    rows.source = value;
  } else if (key == "hardware") {
    rows.hardware = value;
  } else if (key == "scenario") {
    rows.scenario = value;
  } else if (key == "dtype") {
    rows.dtype = value;
  } else if (key == "machine") {
    rows.machine = value;
  } else if (key == "profile") {
    rows.profile = value;
  } else if (key == "show_machines") {
    rows.show_machines = cells_of(value, ' ');
  } else if (key == "show_dtypes") {
    rows.show_dtypes = cells_of(value, ' ');
  } else if (key == "waiting") {
    rows.waiting.push_back(value);
  } else if (key == "fixed") {
    for (const std::string& pair : cells_of(value, ' ')) {
      const std::size_t equals = pair.find('=');
      check(equals != std::string::npos, "{}: fixed '{}' has no '='", where, pair);
      rows.fixed[pair.substr(0, equals)] = pair.substr(equals + 1);
    }
  } else if (key == "regime") {
    const std::vector<std::string> words = cells_of(value, ' ');
    check(words.size() == 2, "{}: regime '{}' is not a parameter and a number", where, value);
    rows.regime_parameter = words[0];
    rows.regime_from = number_of(words[1], where, "regime");
  } else {
    fail(Fault::invalid, "{}: unknown key '{}'", where, key);
  }
}

PublishedRow read_row(const std::vector<std::string>& header, const std::vector<std::string>& cells,
                      const std::string& where) {
  check(cells.size() == header.size(), "{}: {} cells, the header has {}", where, cells.size(),
        header.size());
  PublishedRow row;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string& column = header[i];
    const std::string& cell = cells[i];
    if (column == "mode") {
      check(cell == "inference" || cell == "training",
            "{}: mode '{}' is neither inference nor training", where, cell);
      row.train = cell == "training";
    } else if (column == "gpus") {
      row.gpus = count_of(cell, where, column);
    } else if (column == "seconds") {
      if (!cell.empty()) row.seconds = number_of(cell, where, column);
    } else if (column == "peak_gib") {
      if (!cell.empty()) row.peak_gib = number_of(cell, where, column);
    } else if (column == "speedup") {
      if (!cell.empty()) row.speedup = number_of(cell, where, column);
    } else if (column == "kind") {
      row.kind = cell;
    } else if (column == "use") {
      using enum PublishedRow::Use;
      check(cell == "calibrate" || cell == "validate" || cell == "show",
            "{}: use '{}' is none of calibrate, validate and show", where, cell);
      row.use = cell == "calibrate" ? calibrate : cell == "validate" ? validate : show;
    } else {
      row.parameters[column] = cell;
    }
  }
  return row;
}

}  // namespace

PublishedRows read_published(std::string_view text, const std::string& name) {
  PublishedRows rows;
  rows.name = name;
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  Lines lines(text, name);
  std::string_view line;
  std::vector<std::string> header;
  while (lines.next(line)) {
    if (line.empty()) continue;
    if (line.starts_with('#')) {
      read_key(rows, line, lines.where());
    } else if (header.empty()) {
      header = cells_of(line, ',');
      for (const char* column : {"mode", "gpus", "use"})
        check(std::count(header.begin(), header.end(), column) == 1,
              "{}: the header needs one column {}", lines.where(), column);
    } else {
      rows.rows.push_back(read_row(header, cells_of(line, ','), lines.where()));
      rows.rows.back().line = lines.number();
    }
  }
  if (rows.rows.empty() && !rows.waiting.empty()) return rows;
  check(!rows.scenario.empty() && !rows.machine.empty() && !rows.profile.empty(),
        "{}: scenario, machine and profile must be named in its first lines", name);
  check(!rows.rows.empty(), "{}: no rows", name);
  return rows;
}

}  // namespace shardlab::results
