#include "results/import_google_benchmark.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "results/benchmark_name.h"

namespace shardlab::results {
namespace {

using nlohmann::json;

constexpr std::array aggregates{"_mean", "_median", "_stddev", "_cv",
                                "_BigO", "_RMS",    "_min",    "_max"};
constexpr std::array known_members{"name",
                                   "family_index",
                                   "per_family_instance_index",
                                   "run_name",
                                   "run_type",
                                   "repetitions",
                                   "repetition_index",
                                   "threads",
                                   "aggregate_name",
                                   "aggregate_unit",
                                   "iterations",
                                   "real_time",
                                   "cpu_time",
                                   "time_unit",
                                   "label",
                                   "error_occurred",
                                   "error_message",
                                   "skipped",
                                   "skip_message"};

/// How many of a unit a second has.
std::optional<double> in_a_second(const std::string& unit) {
  if (unit == "ns" || unit.empty()) return 1e9;
  if (unit == "us") return 1e6;
  if (unit == "ms") return 1e3;
  if (unit == "s") return 1;
  return std::nullopt;
}

/// The repetitions of one benchmark.
struct Group {
  std::string run_name;
  const json* first = nullptr;
  std::vector<const json*> samples;
  const json* median = nullptr;  ///< Of aggregates; used where there is no sample.
};

bool is_true(const json& value) { return value.is_boolean() && value.get<bool>(); }

/// Files of versions before 1.5 have no run_type, and their aggregates are told by the name.
std::string aggregate_of(const json& row) {
  if (const std::string name = text_member(row, "aggregate_name"); !name.empty()) return name;
  if (text_member(row, "run_type") == "aggregate") return "unnamed";
  if (!member(row, "run_type").is_null()) return "";
  const std::string name = text_member(row, "name");
  for (const std::string_view suffix : aggregates)
    if (name.ends_with(suffix)) return std::string(suffix.substr(1));
  return "";
}

std::string run_name_of(const json& row) {
  if (const std::string name = text_member(row, "run_name"); !name.empty()) return name;
  std::string name = text_member(row, "name");
  const std::string aggregate = aggregate_of(row);
  if (!aggregate.empty() && name.ends_with("_" + aggregate))
    name.resize(name.size() - aggregate.size() - 1);
  return name;
}

class Reader {
 public:
  explicit Reader(const json& file) : file_(file) { result_.format = "Google Benchmark JSON"; }

  Imported read() {
    read_context(member(file_, "context"));
    for (const json& row : member(file_, "benchmarks")) group(row);
    for (const Group& each : groups_) add(each);
    if (aggregates_ > 0)
      result_.notes.push_back({0, fmt::format("{} aggregate rows left out", aggregates_)});
    return std::move(result_);
  }

 private:
  void read_context(const json& context) {
    created_ = utc_from(text_member(context, "date"));
    const std::string cpus = plain_text(member(context, "num_cpus"));
    environment_.processor = fmt::format("unnamed processor x {}", cpus == "null" ? "?" : cpus);
    std::string caches;
    for (const json& cache : member(context, "caches"))
      if (const auto size = number_member(cache, "size"))
        caches += fmt::format("{}L{} {:.0f} KiB", caches.empty() ? ", caches " : " ",
                              plain_text(member(cache, "level")), *size / 1024);
    const std::string host = text_member(context, "host_name");
    environment_.topology = (host.empty() ? "unnamed host" : "host " + host) + caches;
    if (const std::string build = text_member(context, "library_build_type"); !build.empty())
      environment_.libraries["Google Benchmark"] = build;
    json state = json::object();
    if (context.is_object())
      for (const auto& [key, value] : context.items()) {
        if (!is_of_file(key) || key == "caches") continue;
        if (key == "commit" || key == "git_commit" || key == "git_sha" || key == "revision")
          commit_ = plain_text(value);
        else if (value.is_primitive() || key == "load_avg")
          state[key] = value;
      }
    state_ = state.dump(-1, ' ', false, json::error_handler_t::replace);
  }

  void group(const json& row) {
    const std::string name = row.is_object() ? run_name_of(row) : "";
    if (name.empty()) {
      result_.notes.push_back({line_of(row), "a row without a name is left out"});
      return;
    }
    const std::string aggregate = aggregate_of(row);
    // A name that comes twice is told apart by its place in the program.
    const std::string key = fmt::format("{} {} {}", name, plain_text(member(row, "family_index")),
                                        plain_text(member(row, "per_family_instance_index")));
    auto [at, is_new] = places_.try_emplace(key, groups_.size());
    if (is_new) groups_.push_back({name, &row, {}});
    Group& group = groups_[at->second];
    if (aggregate.empty()) {
      group.samples.push_back(&row);
    } else {
      ++aggregates_;
      if (aggregate == "median" || (aggregate == "mean" && group.median == nullptr))
        group.median = &row;
    }
  }

  StoredRun run_of(const Group& group) {
    StoredRun run = imported_run(Execution::cpu, "google-benchmark");
    const BenchmarkName name = read_benchmark_name(group.run_name);
    run.header.series.scenario = name.scenario;
    run.header.series.parameters = parameters_text(name.parameters);
    run.header.series.mesh = name.mesh;
    run.header.environment = environment_;
    run.header.created = created_;
    run.header.commit = commit_;
    run.header.state = state_;
    return run;
  }

  void add(const Group& group) {
    StoredRun run = run_of(group);
    std::vector<const json*> rows;
    for (const json* row : group.samples) {
      if (is_true(member(*row, "error_occurred")) || is_true(member(*row, "skipped"))) {
        std::string reason = text_member(*row, "error_message");
        if (reason.empty()) reason = text_member(*row, "skip_message");
        run.reason = reason.empty() ? "skipped without a reason" : reason;
        continue;
      }
      rows.push_back(row);
    }
    if (rows.empty() && run.reason.empty()) {
      if (group.median == nullptr) return;  // only a fitted complexity
      rows.push_back(group.median);
      result_.notes.push_back({line_of(*group.median),
                               group.run_name + ": only aggregates are there: one value is taken"});
    }
    if (!rows.empty() && !run.reason.empty()) {
      run.status = RunStatus::failed;
    } else if (rows.empty()) {
      run.status = RunStatus::skipped;
    }
    add_times(run, rows, group);
    result_.runs.push_back(std::move(run));
  }

  void add_times(StoredRun& run, const std::vector<const json*>& rows, const Group& group) {
    std::map<std::string, std::vector<double>> counters;
    std::vector<double> real, cpu;
    for (const json* row : rows) {
      const std::string unit = text_member(*row, "time_unit");
      const auto scale = in_a_second(unit);
      if (!scale) {
        result_.notes.push_back(
            {line_of(*row), fmt::format("{}: the time unit '{}' is none of ns, us, ms and s",
                                        group.run_name, unit)});
        continue;
      }
      const double nan = std::numeric_limits<double>::quiet_NaN();
      real.push_back(number_member(*row, "real_time").value_or(nan) / *scale);
      if (const auto time = number_member(*row, "cpu_time")) cpu.push_back(*time / *scale);
      for (const auto& [key, value] : row->items()) {
        if (!is_of_file(key) ||
            std::find(known_members.begin(), known_members.end(), key) != known_members.end())
          continue;
        if (const auto number = number_member(*row, key.c_str())) counters[key].push_back(*number);
      }
    }
    if (real.empty() && run.status == RunStatus::complete) {
      run.status = RunStatus::skipped;
      run.reason = "no samples";
    }
    add_samples(run, step_seconds(), real);
    add_samples(run, cpu_seconds(), cpu);
    for (const auto& [name, values] : counters) {
      const Metric metric = name == "bytes_per_second"   ? rate(name, "B/s")
                            : name == "items_per_second" ? rate(name, "1/s")
                                                         : counter(name);
      add_samples(run, metric, values);
    }
  }

  const json& file_;
  Imported result_;
  std::vector<Group> groups_;
  std::map<std::string, std::size_t> places_;
  int aggregates_ = 0;
  EnvironmentKey environment_;
  std::string created_, commit_, state_ = "{}";
};

}  // namespace

bool is_google_benchmark(const json& file) {
  const json& rows = member(file, "benchmarks");
  if (!rows.is_array() || !member(file, "context").is_object()) return false;
  return rows.empty() || member(rows[0], "states").is_null();
}

Imported read_google_benchmark(const json& file) { return Reader(file).read(); }

}  // namespace shardlab::results
