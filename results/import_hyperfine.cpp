#include "results/import_hyperfine.h"

#include <fmt/format.h>

namespace shardlab::results {
namespace {

using nlohmann::json;

std::vector<double> numbers_of(const json& array) {
  std::vector<double> values;
  for (const json& each : array)
    if (each.is_number()) values.push_back(each.get<double>());
  return values;
}

/// How often the command failed.
std::string failures_of(const json& exit_codes) {
  std::size_t failed = 0;
  for (const json& code : exit_codes) failed += code != 0;
  return failed == 0
             ? ""
             : fmt::format("{} of {} runs of the command failed", failed, exit_codes.size());
}

}  // namespace

bool is_hyperfine(const json& file) {
  const json& rows = member(file, "results");
  return rows.is_array() && !rows.empty() && member(rows[0], "command").is_string();
}

Imported read_hyperfine(const json& file) {
  Imported result{"hyperfine JSON", {}, {}};
  for (const json& row : member(file, "results")) {
    StoredRun run = imported_run(Execution::cpu, "hyperfine");
    run.header.series.scenario = "hyperfine";
    std::map<std::string, std::string> parameters{{"command", text_member(row, "command")}};
    if (const json& named = member(row, "parameters"); named.is_object())
      for (const auto& [key, value] : named.items())
        if (is_of_file(key)) parameters[key] = plain_text(value);
    run.header.series.parameters = parameters_text(parameters);
    std::vector<double> times = numbers_of(member(row, "times"));
    if (times.empty())
      if (const auto mean = number_member(row, "mean")) {
        times = {*mean};
        result.notes.push_back({line_of(row), "no times are there: the mean is taken"});
      }
    run.reason = failures_of(member(row, "exit_codes"));
    if (!run.reason.empty()) run.status = RunStatus::failed;
    if (times.empty()) {
      run.status = RunStatus::skipped;
      run.reason = "no samples";
    }
    add_samples(run, step_seconds(), times);
    const auto user = number_member(row, "user");
    const auto system = number_member(row, "system");
    if (user && system) add_samples(run, cpu_seconds(), {*user + *system});
    add_samples(run, process_peak_bytes(), numbers_of(member(row, "memory_usage_byte")));
    result.runs.push_back(std::move(run));
  }
  return result;
}

}  // namespace shardlab::results
