#include "engine/sim/published_logs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "engine/core/check.h"
#include "engine/sim/machine_prices.h"
#include "engine/sim/machines.h"
#include "engine/sim/median.h"
#include "engine/sim/text_lines.h"

namespace shardlab::sim {
namespace {

constexpr std::string_view header = "log,use,collective,ranks,domains,fabric,wires,bytes,us";
constexpr std::array uses{PublishedLog::Use::judge, PublishedLog::Use::show,
                          PublishedLog::Use::fault};

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  for (std::size_t from = 0; from <= line.size();) {
    const std::size_t to = std::min(line.find(',', from), line.size());
    cells.emplace_back(line.substr(from, to - from));
    from = to + 1;
  }
  return cells;
}

double number_of(std::string_view text, const std::string& where) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  check(
      error == std::errc() && end == text.data() + text.size() && value > 0 && std::isfinite(value),
      "{}: expected a positive number, found '{}'", where, text);
  return value;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  std::vector<PublishedLog> read() {
    bool rows = false;
    for (Lines lines(text_); lines.next();) {
      const std::string where = place(name_, lines.number());
      if (lines.text().starts_with("# ")) {
        note(lines.text().substr(2));
      } else if (!rows) {
        check(lines.text() == header, "{}: expected the line '{}'", where, header);
        rows = true;
      } else if (!lines.text().empty()) {
        row(cells_of(lines.text()), where);
      }
    }
    check(!logs_.empty(), "{}: no rows", name_);
    return std::move(logs_);
  }

 private:
  /// `source NAME: text` or `fault NAME: text`; other comments are for people.
  void note(std::string_view text) {
    const std::size_t colon = text.find(": ");
    if (colon == std::string_view::npos) return;
    const std::vector<std::string_view> words = words_of(text.substr(0, colon));
    if (words.size() != 2) return;
    auto& texts = words[0] == "fault" ? faults_ : sources_;
    texts[std::string(words[1])] = std::string(text.substr(colon + 2));
  }

  void row(const std::vector<std::string>& cells, const std::string& where) {
    check(cells.size() == 9, "{}: expected 9 cells, found {}", where, cells.size());
    if (logs_.empty() || logs_.back().log.name != cells[0]) begin(cells, where);
    ComparedLog& log = logs_.back().log;
    const double bytes = number_of(cells[7], where);
    check(log.rows.empty() || bytes > log.rows.back().bytes, "{}: sizes must rise, found {}", where,
          cells[7]);
    const double predicted = choose(wires_, log.group, log.collective, bytes).seconds;
    log.rows.push_back({bytes, number_of(cells[8], where) * 1e-6, predicted, predicted, 0});
  }

  void begin(const std::vector<std::string>& cells, const std::string& where) {
    PublishedLog& published = logs_.emplace_back();
    const auto use = std::find_if(uses.begin(), uses.end(), [&](PublishedLog::Use each) {
      return cells[1] == name_of(each);
    });
    check(use != uses.end(), "{}: expected judge, show or fault, found '{}'", where, cells[1]);
    published.use = *use;
    published.source = sources_[cells[0]];
    published.fault = faults_[cells[0]];
    published.log.name = cells[0];
    published.log.collective = cells[2];
    published.log.group.ranks = static_cast<int>(number_of(cells[3], where));
    published.log.group.domains = static_cast<int>(number_of(cells[4], where));
    published.log.fabric = cells[5];
    wires_ = wires_named(cells[6], where);
  }

  std::string_view text_;
  const std::string& name_;
  std::map<std::string, std::string> sources_;
  std::map<std::string, std::string> faults_;
  Wires wires_;  ///< Of the log under way.
  std::vector<PublishedLog> logs_;
};

}  // namespace

Wires wires_named(std::string_view text, const std::string& where) {
  const std::vector<std::string_view> words = words_of(text);
  check(!words.empty(), "{}: no machine that the wires are of", where);
  Machine machine = find_machine(words.front());
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t at = words[i].find('=');
    check(at != std::string_view::npos && machine.has(words[i].substr(0, at)),
          "{}: expected a number of {} as path=value, found '{}'", where, machine.name, words[i]);
    machine.numbers.find(words[i].substr(0, at))->second.value =
        number_of(words[i].substr(at + 1), where);
  }
  return wires_of(machine);
}

std::vector<PublishedLog> read_published_logs(std::string_view text, const std::string& name) {
  return Reader(text, name).read();
}

std::string published_rows(const ComparedLog& log, const char* use, const std::string& wires) {
  std::string text;
  for (const ComparedRow& row : log.rows)
    text += fmt::format("{},{},{},{},{},{},{},{:.0f},{:.6g}\n", log.name, use, log.collective,
                        log.group.ranks, log.group.domains, log.fabric, wires, row.bytes,
                        row.measured * 1e6);
  return text;
}

std::string_view published_header() { return header; }

const char* name_of(PublishedLog::Use use) {
  switch (use) {
    case PublishedLog::Use::judge:
      return "judge";
    case PublishedLog::Use::show:
      return "show";
    case PublishedLog::Use::fault:
      return "fault";
  }
  return "unknown";
}

std::vector<double> LeftOut::errors(Band band) const {
  std::vector<double> found;
  for (const ComparedLog& log : logs)
    for (const ComparedRow& row : log.rows)
      if (band_of(row.bytes) == band) found.push_back(std::abs(row.corrected / row.measured - 1));
  return found;
}

std::vector<Residual> residuals_of(const std::vector<ComparedLog>& judged,
                                   const ComparedLog* without) {
  std::vector<Residual> found;
  for (const ComparedLog& log : judged) {
    if (&log == without || log.fabric.find("tcpxo") != std::string::npos) continue;
    std::map<Band, double> rows;
    for (const ComparedRow& row : log.rows) rows[band_of(row.bytes)] += 1;
    for (const ComparedRow& row : log.rows) {
      const Band band = band_of(row.bytes);
      found.push_back({band, row.measured / row.predicted - 1, 1 / rows[band]});
    }
  }
  return found;
}

LeftOut leave_out(std::vector<ComparedLog> judged) {
  LeftOut left;
  correct_from_others(judged);
  std::vector<double> widths;
  for (const ComparedLog& log : judged) {
    const std::vector<Residual> others = residuals_of(judged, &log);
    for (const ComparedRow& row : log.rows) {
      widths.push_back(half_width_from(others, band_of(row.bytes)));
      left.inside += std::abs(row.measured / row.predicted - 1) <= widths.back() ? 1 : 0;
    }
  }
  left.rows = static_cast<int>(widths.size());
  if (!widths.empty()) left.median_half_width = median(std::move(widths));
  left.logs = std::move(judged);
  return left;
}

}  // namespace shardlab::sim
