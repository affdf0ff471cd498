#include <algorithm>
#include <cctype>

#include "engine/core/check.h"
#include "engine/sim/nccl_log_runs.h"

namespace shardlab::sim {
namespace {

using Words = std::vector<std::string_view>;

/// Where the columns of a half of a table lie, counted from its time.
struct Table {
  bool titled = false;
  bool rooted = false;
  bool cpu_times = false;
  bool counts_wrong = true;  ///< Else the column holds the largest deviation.
  std::size_t algbw = 1;
  std::size_t busbw = 2;
  std::size_t wrong = 3;
  std::size_t half = 4;    ///< Columns of a half.
  std::size_t all = 8;     ///< Columns of all halves and what comes after them.
  std::size_t halves = 0;  ///< 0 where no title tells.
};

std::size_t index_of(const Words& words, std::string_view word, std::size_t from = 0) {
  const auto found =
      std::find(words.begin() + static_cast<std::ptrdiff_t>(from), words.end(), word);
  return static_cast<std::size_t>(found - words.begin());
}

std::size_t time_after(const Words& words, std::size_t from) {
  return std::min(index_of(words, "time", from), index_of(words, "cputime", from));
}

bool holds(const Words& words, std::string_view word) {
  return index_of(words, word) < words.size();
}

/// The table that a line of titles announces; none if titles of its first half are not there.
std::optional<Table> table_of(const Words& words) {
  const std::size_t time = time_after(words, 0);
  if (time == words.size() || !holds(words, "size")) return std::nullopt;
  const std::size_t second = time_after(words, time + 1);
  const std::size_t algbw = index_of(words, "algbw", time);
  const std::size_t busbw = index_of(words, "busbw", time);
  if (algbw >= second || busbw >= second) return std::nullopt;
  Table table;
  table.titled = true;
  table.rooted = index_of(words, "root") < time;
  table.cpu_times = words[time] == "cputime";
  table.algbw = algbw - time;
  table.busbw = busbw - time;
  table.halves = second < words.size() ? 2 : 1;
  table.half = second - time;
  table.all = words.size() - time;
  const std::size_t wrong =
      std::min(index_of(words, "#wrong", time), index_of(words, "wrong", time));
  const std::size_t error = index_of(words, "error", time);
  table.counts_wrong = wrong <= error;
  table.wrong = std::min(wrong, error) - time;
  return table;
}

/// Without the marks that mpirun and srun put before the lines of a rank.
std::string_view unmarked(std::string_view line) {
  const auto digits = [&](std::size_t at) {
    while (at < line.size() && std::isdigit(static_cast<unsigned char>(line[at])) != 0) ++at;
    return at;
  };
  if (line.starts_with('[')) {
    const std::size_t end = line.find(">:");
    const bool tagged = end != std::string_view::npos && has(line.substr(0, end), "]<std");
    return tagged ? line.substr(end + 2) : line;
  }
  const std::size_t start = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t end = digits(start);
  if (end > start && line.substr(end).starts_with(": ")) return line.substr(end + 2);
  return line;
}

/// Numbers of a row, and what had to be guessed to read them.
struct Numbers {
  bool decimal_comma = false;
  bool thousands = false;

  std::optional<std::int64_t> whole(std::string_view word) {
    if (const auto value = whole_number(word)) return value;
    std::string digits;
    std::size_t group = 0;
    for (const char c : word) {
      if (c == ',' && (digits.empty() || (digits.size() > 3 && group != 3))) return std::nullopt;
      if (c != ',') digits += c;
      group = c == ',' ? 0 : group + 1;
    }
    const auto value = group == 3 ? whole_number(digits) : std::nullopt;
    thousands = thousands || value.has_value();
    return value;
  }

  std::optional<Rounded> real(std::string_view word) {
    if (const auto value = rounded_number(word); value && value->value < 1e15) return value;
    if (std::count(word.begin(), word.end(), ',') != 1) return std::nullopt;
    std::string pointed(word);
    std::replace(pointed.begin(), pointed.end(), ',', '.');
    const auto value = rounded_number(pointed);
    decimal_comma = decimal_comma || value.has_value();
    return value;
  }
};

bool number_like(std::string_view word) {
  Numbers numbers;
  return word == "N/A" || numbers.real(word) || numbers.whole(word);
}

bool lettered(std::string_view word) {
  return std::isalpha(static_cast<unsigned char>(word[0])) != 0 && word != "N/A";
}

bool holds_numbers(const Words& words) {
  return std::count_if(words.begin(), words.end(), number_like) >= 4;
}

class TextReader {
 public:
  explicit TextReader(std::string_view name) : runs_(name) {}

  NcclLog read(std::string_view text) {
    for (Lines lines(text); lines.next();) {
      line_ = lines.number();
      if (lines.too_long())
        odd("a line of more than 64 KiB is not read");
      else
        read_line(unmarked(lines.text()));
    }
    runs_.finish(line_);
    return runs_.take();
  }

 private:
  void read_line(std::string_view line) {
    Words words = words_of(line);
    if (words.empty()) return;
    if (words[0] == "#") words.erase(words.begin());
    if (const auto table = table_of(words)) {
      start_table(*table);
    } else if (holds(words, "size") && (holds(words, "algbw") || holds(words, "busbw"))) {
      start_table(Table());
      odd("the titles of the table are not readable: its columns are taken to be the usual ones");
    } else if (line.find_first_not_of(' ') == line.find('#')) {
      read_comment(line, words);
    } else if (!read_message(line, words)) {
      const bool in_table = table_.titled && !runs_.ended();
      const bool numbered = number_like(words[0]);
      if (in_table ? numbered || holds_numbers(words) : numbered && holds_numbers(words))
        read_row(words);
    }
  }

  /// Lines before, after and within tables that are no rows.
  bool read_message(std::string_view line, const Words& words) {
    if (const std::size_t at = line.find("NCCL version "); at != std::string_view::npos) {
      const Words version = words_of(line.substr(at + 13));
      preamble();
      if (!version.empty())
        runs_.header.version = plain(version[0].substr(0, version[0].find('+')));
      return true;
    }
    if (has(line, "NCCL WARN") || has(line, "Test NCCL failure") ||
        has(line, "Test CUDA failure") || has(line, "Test failure")) {
      odd(fmt::format("the log holds an error: {}", quote(line)));
      if (!has(line, "NCCL WARN")) suspect(Symptom::broken_off, "the run broke off with an error");
      return true;
    }
    if (has(line, "NCCL INFO")) return true;
    for (const std::string_view word : words)
      if (const std::string_view known = collective_of(word); !known.empty()) {
        preamble();
        runs_.header.collective = known;
        return true;
      }
    return false;
  }

  void read_comment(std::string_view line, const Words& words) {
    if (words.empty() || read_message(line, words)) return;
    if (number_like(words[0]) && holds_numbers(words)) return read_row(words);
    const auto after = [&](std::string_view word) -> std::string_view {
      const std::size_t at = index_of(words, word);
      return at + 1 < words.size() ? words[at + 1] : std::string_view();
    };
    if (words[0] == "nThread") {
      preamble();
      runs_.header.announced_least = whole_number(after("minBytes")).value_or(0);
      runs_.header.announced_most = whole_number(after("maxBytes")).value_or(0);
    } else if (words[0] == "Rank" && words.size() > 1) {
      read_rank(line, words);
    } else if (has(line, "nccl-library=")) {
      preamble();
      const std::string_view code = line.substr(line.find("nccl-library=") + 13);
      if (const auto value = whole_number(code.substr(0, code.find(' '))))
        runs_.header.version = nccl_version(*value);
    } else if (has(line, "Out of bounds values")) {
      runs_.footer();
      if (has(line, "FAILED"))
        suspect(Symptom::wrong_values, "the footer says that values are wrong");
    } else if (has(line, "Avg bus bandwidth")) {
      runs_.footer();
      Numbers numbers;
      if (const auto value = numbers.real(after(":"))) runs_.average = value->value * 1e9;
    } else if (words[0] == "error:" || words[0] == "error") {
      suspect(Symptom::broken_off, fmt::format("the run ended with {}", quote(line)));
    }
  }

  /// As in "# Rank 3 Group 0 Pid 417 on host7 device 3 [0000:1b:00] NVIDIA H100 80GB HBM3".
  void read_rank(std::string_view line, const Words& words) {
    const auto rank = whole_number(words[1]);
    const std::size_t host = index_of(words, "on") + 1;
    if (!rank || *rank < 0 || *rank > 1'000'000 || host >= words.size()) return;
    preamble();
    runs_.header.listed.insert(static_cast<int>(*rank));
    runs_.header.hosts.insert(plain(words[host]));
    const std::size_t gpu = line.find("] ");
    if (*rank == 0 && gpu != std::string_view::npos) runs_.header.gpu = plain(line.substr(gpu + 2));
  }

  void start_table(const Table& table) {
    runs_.finish(line_);
    table_ = table;
    runs_.header.cpu_times = table.cpu_times;
  }

  /// A line that comes before the rows of a run: a run with rows has ended.
  void preamble() {
    if (!runs_.reading()) return;
    runs_.finish(line_);
    runs_.header = NcclHeader();
    table_ = Table();
  }

  void read_row(const Words& words) {
    std::vector<std::string> odds;
    if (!read_row(words, odds)) odds.emplace_back("the row is left out");
    for (std::string& text : odds) odd(std::move(text));
  }

  /// Whether the row could be used; `odds` says what is odd about it.
  bool read_row(const Words& words, std::vector<std::string>& odds) {
    Numbers numbers;
    NcclRow row;
    row.line = line_;
    const auto bytes = numbers.whole(words[0]);
    const auto count = words.size() > 1 ? numbers.whole(words[1]) : std::nullopt;
    if (!bytes || !count || *bytes < 0 || *count < 0 || words.size() < 4 || !lettered(words[2])) {
      odds.push_back(fmt::format("not readable as a row of size, count, type ...: {} and {} words",
                                 quote(words[0]), words.size() - 1));
      return false;
    }
    row.bytes = *bytes;
    row.count = *count;
    std::size_t at = 3;
    std::string_view redop;
    if (lettered(words[at])) redop = words[at++];
    const std::int64_t root = read_root(words, at);
    const Words columns(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
    row.out_of_place = read_half(columns, 0, numbers, odds);
    if (columns.size() > table_.half) row.in_place = read_half(columns, table_.half, numbers, odds);
    if (!row.out_of_place && !row.in_place) return false;
    if (columns.size() <= table_.half && table_.halves == 2)
      odds.emplace_back("the in-place half of the row is missing");
    if (columns.size() > table_.all + 2)
      odds.push_back(fmt::format("{} columns from the time on, expected {}: two lines in one?",
                                 columns.size(), table_.all));
    if (numbers.decimal_comma) odds.emplace_back("decimal commas are read as points");
    if (numbers.thousands) odds.emplace_back("commas in whole numbers are read as thousands");
    runs_.add(row, words[2], redop == "none" ? "" : redop, root, odds);
    return true;
  }

  /// The root, if there is one at `at`, which then moves on.
  std::int64_t read_root(const Words& words, std::size_t& at) const {
    const auto root = at < words.size() ? whole_number(words[at]) : std::nullopt;
    const bool one_more = words.size() > at && (words.size() - at) % 4 == 1;
    if (!root || !(*root < 0 || table_.rooted || (!table_.titled && one_more))) return -1;
    ++at;
    return std::max<std::int64_t>(*root, -1);
  }

  /// A half of a row whose time is at `from`; none where it is cut, mangled or without time.
  std::optional<NcclTiming> read_half(const Words& columns, std::size_t from, Numbers& numbers,
                                      std::vector<std::string>& odds) const {
    const char* half = from == 0 ? "out-of-place" : "in-place";
    if (columns.size() <= from + std::max(table_.algbw, table_.busbw)) {
      odds.push_back(fmt::format("the {} half of the row is cut: {} of {} columns", half,
                                 columns.size() - std::min(from, columns.size()), table_.half));
      return std::nullopt;
    }
    const auto seconds = numbers.real(columns[from]);
    const auto alg = numbers.real(columns[from + table_.algbw]);
    const auto bus = numbers.real(columns[from + table_.busbw]);
    const bool checked = table_.wrong < table_.half && columns.size() > from + table_.wrong;
    const std::string_view wrong = checked ? columns[from + table_.wrong] : "N/A";
    const auto wrong_count = numbers.real(wrong);
    if (!seconds || !alg || !bus || (!wrong_count && wrong != "N/A") || seconds->value < 0 ||
        alg->value < 0 || bus->value < 0) {
      odds.push_back(fmt::format("the {} half of the row is not readable: {} {} {} {}", half,
                                 quote(columns[from]), quote(columns[from + table_.algbw]),
                                 quote(columns[from + table_.busbw]), quote(wrong)));
      return std::nullopt;
    }
    if (seconds->value < 1e-3) {
      odds.push_back(fmt::format("the {} time is 0 us", half));
      return std::nullopt;
    }
    NcclTiming timing{{seconds->value * 1e-6, seconds->half_step * 1e-6},
                      {alg->value * 1e9, alg->half_step * 1e9},
                      {bus->value * 1e9, bus->half_step * 1e9},
                      std::nullopt,
                      false};
    if (wrong_count && table_.counts_wrong) timing.wrong = wrong_count->value;
    return timing;
  }

  void odd(std::string text) { runs_.odd(line_, std::move(text)); }
  void suspect(Symptom symptom, std::string text) {
    runs_.suspect(symptom, line_, std::move(text));
  }

  NcclRuns runs_;
  Table table_;
  int line_ = 0;
};

}  // namespace

NcclLog read_nccl_text(std::string_view text, std::string_view name) {
  return TextReader(name).read(text);
}

}  // namespace shardlab::sim
