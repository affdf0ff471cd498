#include "tools/calibrate_verb.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "engine/core/check.h"
#include "engine/sim/calibrate.h"
#include "engine/sim/collective_trust.h"
#include "engine/sim/machine_prices.h"
#include "engine/sim/machines.h"
#include "results/statistics.h"
#include "tools/calibrate_runs.h"
#include "tools/calibrate_topology.h"
#include "tools/compared_log_json.h"
#include "tools/json_text.h"
#include "tools/picture.h"
#include "tools/probe_store.h"
#include "tools/table.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_bytes = 64 << 20;
constexpr std::array bands{sim::Band::small, sim::Band::middle, sim::Band::large};

/// `FILE@RANKSxHOSTS:COLLECTIVE`, as far as stated.
struct LogFile {
  std::string path;
  std::string collective;
  int ranks = 0;
  int hosts = 0;
};

LogFile log_file(const std::string& typed) {
  LogFile file{typed, "", 0, 0};
  const std::size_t at = typed.rfind('@');
  if (at == std::string::npos || fs::exists(typed)) return file;
  const std::size_t colon = std::min(typed.find(':', at), typed.size());
  if (colon < typed.size()) file.collective = typed.substr(colon + 1);
  file.path = typed.substr(0, at);
  const char* const end = typed.data() + colon;
  const auto [x, bad_ranks] = std::from_chars(typed.data() + at + 1, end, file.ranks);
  bool good = bad_ranks == std::errc() && file.ranks >= 1;
  if (good && x != end) {
    const auto [last, bad_hosts] = std::from_chars(x + 1, end, file.hosts);
    good = *x == 'x' && bad_hosts == std::errc() && last == end && file.hosts >= 1;
  }
  check(good,
        "--from {}: expected FILE, FILE@RANKS or FILE@RANKSxHOSTS:COLLECTIVE such as "
        "log.txt@16x2:all_gather",
        typed);
  return file;
}

std::string text_of(const std::string& path) {
  std::error_code fault;
  const bool folder = fs::is_directory(path, fault);
  check(!folder, "{}: a folder; expected a log of nccl-tests or a results file", path);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail(Fault::external, "{}: cannot be read", path);
  std::string text(most_bytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (stream.bad()) fail(Fault::external, "{}: cannot be read", path);
  check(text.size() <= most_bytes, "{}: more than {} MiB; not a log of nccl-tests", path,
        most_bytes >> 20);
  check(!text.empty(), "{}: line 1: the file is empty", path);
  return text;
}

/// Writes a machine that extends the one that was given, or all of it where that is no file.
void write_machine(const CalibrateOptions& options, sim::Machine own, bool extends) {
  const fs::path output(options.output);
  own.name = output.stem().string();
  std::string text = sim::to_toml(own);
  if (extends) {
    std::string extended = options.machine;
    if (extended.find('/') != std::string::npos || extended.ends_with(".toml")) {
      const fs::path folder = fs::absolute(output).parent_path();
      extended = (fs::path(".") / fs::relative(extended, folder)).string();
    }
    text.insert(text.find('\n') + 1, fmt::format("extends = \"{}\"\n", extended));
  }
  spare_database(output.string());
  std::ofstream stream(output, std::ios::binary);
  stream << text << std::flush;
  if (!stream) fail(Fault::external, "{}: cannot be written", options.output);
  fmt::print(
      options.json ? stderr : stdout, "\nwrote {}: `shardlab predict SCENARIO --machine {}`\n",
      options.output,
      options.output.find('/') == std::string::npos ? "./" + options.output : options.output);
}

/// Rows of one band.
struct Errors {
  std::vector<double> before;
  std::vector<double> after;
  int others = 0;  ///< Logs that correct, at most.

  void add(const sim::ComparedLog& log, sim::Band band) {
    for (const sim::ComparedRow& row : log.rows) {
      if (sim::band_of(row.bytes) != band) continue;
      before.push_back(std::abs(row.predicted / row.measured - 1));
      after.push_back(std::abs(row.corrected / row.measured - 1));
      others = std::max(others, row.others);
    }
  }
};

class Calibration {
 public:
  explicit Calibration(const CalibrateOptions& options)
      : options_(options), base_(sim::find_machine(options.machine)), wires_(sim::wires_of(base_)) {
    check(wires_.links_per_gpu > 0 || wires_.nics_per_host > 0,
          "calibrate {}: the machine has no links that logs could be of", options.machine);
    for (const std::string& typed : options.from) read(log_file(typed));
    sim::correct_from_others(logs_);
    curves_ = sim::curves_of(logs_, wires_, !options.shared);
  }

  [[nodiscard]] nlohmann::json json() const {
    nlohmann::json all = nlohmann::json::array();
    for (const sim::ComparedLog& log : logs_) all.push_back(json_of(log));
    return {{"machine", base_.name}, {"logs", all}};
  }

  void print() const {
    fmt::print("each log left out, predicted by {} alone and corrected by the others\n\n",
               base_.name);
    Table each({"log", "collective", "ranks", "domains", "sizes", "rows", "~error", "~corrected",
                "by logs"});
    for (const sim::ComparedLog& log : logs_)
      for (const sim::Band band : bands) {
        Errors errors;
        errors.add(log, band);
        if (errors.before.empty()) continue;
        each.row({fs::path(log.name).filename().string(), log.collective,
                  fmt::to_string(log.group.ranks), fmt::to_string(log.group.domains),
                  sim::name_of(band), fmt::to_string(errors.before.size()),
                  show_percent(results::median(errors.before)),
                  errors.others == 0 ? "uncorrected" : show_percent(results::median(errors.after)),
                  fmt::to_string(errors.others)});
      }
    fmt::print("{}\n", each.text());
    print_bands();
    for (const std::string& note : notes_) fmt::print("{}\n", note);
    print_curves();
  }

  void write() const {
    sim::Machine own;
    own.collectives = curves_;
    write_machine(options_, std::move(own), true);
  }

 private:
  void read(const LogFile& file) {
    sim::NcclLog log = sim::read_nccl_log(text_of(file.path), file.path);
    if (log.runs.size() > 1)
      note(file, log.runs[1].line,
           fmt::format("{} runs in one file; each counts as a log of its own", log.runs.size()));
    for (const sim::Oddity& oddity : log.oddities) note(file, oddity.line, oddity.text);
    for (sim::NcclRun& run : log.runs) {
      check(file.collective.empty() || run.collective.empty() || file.collective == run.collective,
            "{}: line {}: {} is stated, the log is of {}", file.path, run.line, file.collective,
            run.collective);
      if (run.collective.empty()) run.collective = file.collective;
      const sim::Group group = sim::group_of(run, file.path, wires_, file.ranks, file.hosts);
      const std::string& wire = base_.word(group.domains > 1 ? "fabric.kind" : "nvlink.kind");
      sim::ComparedLog compared = sim::compared(run, file.path, wires_, group, wire);
      sim::refuse_faults(run, compared);
      for (const sim::Oddity& oddity : run.oddities) note(file, oddity.line, oddity.text);
      if (file.ranks == 0 && run.listed_ranks == 0)
        note(
            file, run.line,
            fmt::format("no header lists the ranks: by busbw and algbw there are {}", group.ranks));
      if (const sim::ComparedLog* same = equal_to(compared); same != nullptr) {
        note(file, run.line, "left out: the times are those of " + same->name);
        continue;
      }
      if (const std::string reason = sim::not_monotone(compared); !reason.empty())
        notes_.push_back(fmt::format("{}: corrects nothing: {}", file.path, reason));
      logs_.push_back(std::move(compared));
    }
  }

  /// Of an odd line both halves may say the same.
  void note(const LogFile& file, int line, const std::string& text) {
    std::string whole = fmt::format("{}:{}: {}", file.path, line, text);
    if (std::find(notes_.begin(), notes_.end(), whole) == notes_.end())
      notes_.push_back(std::move(whole));
  }

  /// A log that was read before with the same times, as one that is given twice.
  [[nodiscard]] const sim::ComparedLog* equal_to(const sim::ComparedLog& log) const {
    for (const sim::ComparedLog& other : logs_) {
      const bool same = std::equal(log.rows.begin(), log.rows.end(), other.rows.begin(),
                                   other.rows.end(), [](const auto& a, const auto& b) {
                                     return a.bytes == b.bytes && a.measured == b.measured;
                                   });
      if (same && log.collective == other.collective && log.group.ranks == other.group.ranks)
        return &other;
    }
    return nullptr;
  }

  void print_bands() const {
    Table table({"collective", "wires", "sizes", "logs", "rows", "~error", "~corrected"});
    std::set<std::pair<std::string, std::string>> subjects;
    for (const sim::ComparedLog& log : logs_) subjects.emplace(log.collective, log.fabric);
    for (const auto& [collective, fabric] : subjects)
      for (const sim::Band band : bands) {
        Errors errors;
        int logs = 0;
        for (const sim::ComparedLog& log : logs_) {
          if (log.collective != collective || log.fabric != fabric) continue;
          const std::size_t before = errors.before.size();
          errors.add(log, band);
          logs += errors.before.size() > before ? 1 : 0;
        }
        const bool known = !errors.before.empty();
        const char* const uncorrected =
            logs == 1 ? "uncorrected, not validated: one log" : "uncorrected";
        table.row({collective, fabric, sim::name_of(band), fmt::to_string(logs),
                   fmt::to_string(errors.before.size()),
                   known ? show_percent(results::median(errors.before)) : "not validated",
                   !known               ? ""
                   : errors.others == 0 ? uncorrected
                                        : show_percent(results::median(errors.after))});
      }
    fmt::print("{}\n", table.text());
  }

  void print_curves() const {
    if (curves_.empty()) {
      fmt::print("no curve: a correction needs two logs that agree within 1.5, or your own log\n");
      return;
    }
    Table table({"curve", "ranks", "domains", "points", "source", "from"});
    for (const sim::CollectiveCurve& curve : curves_)
      table.row(
          {curve.collective, fmt::to_string(curve.ranks), fmt::to_string(curve.hosts),
           fmt::to_string(curve.points.size()),
           std::string(sim::name_of(curve.source)) + (curve.extrapolated() ? ", extrapolated" : ""),
           curve.from});
    fmt::print("{}", table.text());
  }

  const CalibrateOptions& options_;
  sim::Machine base_;
  sim::Wires wires_;
  std::vector<sim::ComparedLog> logs_;
  std::vector<sim::CollectiveCurve> curves_;
  std::vector<std::string> notes_;
};

void calibrate_by_database(const CalibrateOptions& options) {
  check(options.from.size() == 1, "--from {}: one database, or logs of nccl-tests",
        fmt::join(options.from, " "));
  check(!options.shared, "--shared is of logs; a database holds runs of one machine");
  const std::string& database = options.from.front();
  const bool probed = options.machine == "this-cpu";
  const sim::Machine base = probed ? newest_probe(database) : sim::find_machine(options.machine);
  const RunCalibration calibration = calibrate_by_runs(database, base, options.runs);
  if (options.json)
    fmt::print("{}\n", json_text(json_of(calibration, base)));
  else
    fmt::print("{}", text_of(calibration, base));
  if (options.output.empty()) return;
  write_machine(options, probed ? sim::extended(base, calibration.own) : calibration.own, !probed);
}

}  // namespace

Exit calibrate_verb(const CalibrateOptions& options) {
  check(!options.from.empty(), "calibrate {}: expected logs or a database behind --from",
        options.machine);
  if (std::any_of(options.from.begin(), options.from.end(), is_database)) {
    calibrate_by_database(options);
    return Exit::fine;
  }
  check(options.runs.empty(), "--run chooses runs of a database: {} is none", options.from.front());
  if (const std::string text = text_of(log_file(options.from.front()).path); is_topology(text)) {
    check(options.from.size() == 1, "calibrate {}: one topology at a time, and no logs beside it",
          options.machine);
    const sim::Machine own =
        calibrate_by_topology(options, sim::find_machine(options.machine), text);
    if (!options.output.empty()) write_machine(options, own, true);
    return Exit::fine;
  }
  const Calibration calibration(options);
  if (options.json)
    fmt::print("{}\n", json_text(calibration.json()));
  else
    calibration.print();
  if (!options.output.empty()) calibration.write();
  return Exit::fine;
}

}  // namespace shardlab
