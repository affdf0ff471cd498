#include "tools/measured_runs.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <tuple>

#include "engine/core/check.h"
#include "engine/core/dtype.h"
#include "engine/sim/machine_toml.h"
#include "results/query.h"
#include "results/scaling.h"
#include "results/schema.h"

namespace shardlab {
namespace {

constexpr const char* probe = "probe";

constexpr std::string_view magic("SQLite format 3\0", 16);

/// The first bytes of a file, as far as there are so many.
std::string head_of(const std::string& file) {
  std::string head(100, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(stream.gcount()));
  return head;
}

/// Whether SQLite's head of a file has our mark, which lies at byte 68, most significant first.
bool is_ours(const std::string& head) {
  if (head.size() < 72) return false;
  std::uint32_t mark = 0;
  for (std::size_t i = 68; i < 72; ++i) mark = mark << 8 | static_cast<unsigned char>(head[i]);
  return mark == results::application_id;
}

/// "run 2", or "runs 2, 5, 7"; of many the first and the number.
std::string listed(const std::vector<std::int64_t>& runs) {
  if (runs.size() == 1) return fmt::format("run {}", runs.front());
  constexpr std::size_t most = 8;
  if (runs.size() > most)
    return fmt::format("{} runs from {} to {}", runs.size(), runs.front(), runs.back());
  return fmt::format("runs {}", fmt::join(runs, ", "));
}

std::string kind_of(const sim::Machine& machine) {
  return machine.word("gpu.arch") == "cpu" ? "cpu" : "cuda";
}

/// Whether a processor, as runs store it, is the one that a machine names: all of a CPU's name, of
/// a GPU's the model, as in `H100`.
bool same_processor(const sim::Machine& machine, const std::string& processor) {
  const std::string& name = machine.word("gpu.name");
  if (kind_of(machine) == "cpu") return processor.starts_with(name + " x ");
  return processor.find(name.substr(0, name.find(' '))) != std::string::npos;
}

class Collector {
 public:
  Collector(const std::string& database, const sim::Machine& machine)
      : database_(database), machine_(machine), reader_(results::open_for_reading(database)) {}

  MeasuredRuns collect(const std::vector<std::string>& chosen) {
    for (const std::string& text : chosen) named_.insert(results::find_run(reader_, text).value);
    std::vector<results::RunInfo> all = results::list_runs(reader_);
    if (all.empty())
      fail(Fault::unsupported, "{}: holds no runs; `shardlab run SCENARIO --db {}` measures some",
           database_, database_);
    std::reverse(all.begin(), all.end());
    for (const results::RunInfo& run : all)
      if (named_.empty() || named_.contains(run.id.value)) consider(run);
    refuse_nothing(all.size());
    refuse_mix();
    for (const results::StoredRun& run : usable_) take(run);
    for (auto& [work, kernel] : kernels_) found_.kernels.push_back(std::move(kernel));
    for (const auto& [reason, runs] : left_)
      found_.notes.push_back(fmt::format("{}: not used: {}", listed(runs), reason));
    return std::move(found_);
  }

 private:
  using Key = std::tuple<sim::Family, Dtype, MathMode, std::int64_t, std::int64_t>;

  /// Why a run cannot be used; empty for one that can.
  [[nodiscard]] std::string fault_of(const results::RunInfo& run) const {
    const bool measured = results::is_measured(run.series);
    if (!measured) return fmt::format("{}, not measured", results::name_of(run.series.execution));
    if (results::name_of(run.series.execution) != kind_of(machine_))
      return fmt::format("measured on {}, {} is a machine of {}",
                         results::name_of(run.series.execution), machine_.name, kind_of(machine_));
    if (run.status != results::RunStatus::complete) return results::name_of(run.status);
    if (run.oversubscribed) return "more ranks than cores";
    return "";
  }

  void consider(const results::RunInfo& info) {
    std::string fault = fault_of(info);
    std::optional<results::StoredRun> run;
    if (fault.empty()) {
      run = results::read_run(reader_, info.id);
      const std::string& processor = run->header.environment.processor;
      if (!same_processor(machine_, processor))
        fault = fmt::format("measured on '{}', {} is of '{}'", processor, machine_.name,
                            machine_.word("gpu.name"));
    }
    if (fault.empty()) {
      usable_.push_back(std::move(*run));
      return;
    }
    check(named_.empty(), "--run {}: cannot calibrate {}: {}", info.id.value, machine_.name, fault);
    left_[fault].push_back(info.id.value);
  }

  void refuse_nothing(std::size_t count) const {
    if (!usable_.empty()) return;
    std::string text;
    for (const auto& [reason, runs] : left_) text += fmt::format("; {}: {}", listed(runs), reason);
    fail(Fault::unsupported, "{}: none of its {} runs can calibrate {}{}", database_, count,
         machine_.name, text);
  }

  void refuse_mix() {
    found_.environment = usable_.front().header.environment;
    const results::Fields mine = results::fields_of(found_.environment);
    std::vector<std::int64_t> same;
    std::vector<std::int64_t> other;
    std::set<std::string> fields;
    for (const results::StoredRun& run : usable_) {
      const std::vector<std::string> differing =
          results::differences(mine, results::fields_of(run.header.environment));
      (differing.empty() ? same : other).push_back(run.id.value);
      fields.insert(differing.begin(), differing.end());
    }
    if (!other.empty())
      fail(Fault::unsupported,
           "{}: runs of several environments do not correct one machine: {} and {} differ in {}; "
           "choose with --run",
           database_, listed(same), listed(other), fmt::join(fields, ", "));
  }

  void take(const results::StoredRun& run) {
    const std::string day = run.header.created.substr(0, 10);
    if (found_.first_day.empty()) found_.first_day = day;
    found_.last_day = day;
    if (run.header.series.scenario == probe) {
      found_.probes.emplace_back(
          run.id.value,
          sim::read_machine(
              {probe, fmt::format("{}, run {}", database_, run.id.value), run.header.layouts}));
      return;
    }
    const results::Timeline timeline = results::read_timeline(reader_, run.id);
    if (timeline.steps.empty()) {
      left_["stored with --no-timeline"].push_back(run.id.value);
      return;
    }
    const Precision precision = parse_precision(run.header.series.dtype);
    for (const results::Step& step : timeline.steps) {
      if (step.lane != "compute" || step.op.starts_with("wait ")) continue;
      const sim::Family family = sim::family_of(step.op);
      sim::MeasuredKernel& kernel =
          kernels_[{family, precision.dtype, precision.math, step.flop, step.bytes}];
      kernel.work = {family, precision, static_cast<double>(step.flop),
                     static_cast<double>(step.bytes)};
      kernel.seconds.push_back(step.end_seconds - step.begin_seconds);
    }
    found_.runs.push_back(run.id.value);
  }

  const std::string& database_;
  const sim::Machine& machine_;
  results::Reader reader_;
  std::set<std::int64_t> named_;
  std::vector<results::StoredRun> usable_;
  std::map<std::string, std::vector<std::int64_t>> left_;  // Runs by why they are not used.
  std::map<Key, sim::MeasuredKernel> kernels_;
  MeasuredRuns found_;
};

}  // namespace

bool is_database(const std::string& file) { return head_of(file).starts_with(magic); }

MeasuredRuns measured_runs(const std::string& database, const sim::Machine& machine,
                           const std::vector<std::string>& chosen) {
  check(is_ours(head_of(database)), "{}: a SQLite database, but not one of shardlab", database);
  return Collector(database, machine).collect(chosen);
}

}  // namespace shardlab
