#include "tools/perf/stored_report.h"

#include <unistd.h>

#include <map>

#include "engine/launch/launch.h"
#include "results/benchmark_name.h"
#include "results/imported.h"
#include "tools/build_info.h"
#include "tools/environment.h"

namespace shardlab::perf {
namespace {

using results::Metric;
using results::RunStatus;
using results::StoredRun;

StoredRun run_of(const benchmark::BenchmarkReporter::Run& report, const std::string& command) {
  const BuildInfo build = build_info();
  const results::BenchmarkName name = results::read_benchmark_name(report.run_name.str());
  StoredRun run = results::imported_run(results::Execution::cpu, "shardlab");
  results::RunHeader& header = run.header;
  header.series.scenario = name.scenario;
  header.series.parameters = results::parameters_text(name.parameters);
  header.series.mesh = name.mesh;
  header.environment = this_environment();
  header.commit = build.commit;
  header.dirty = build.dirty;
  header.oversubscribed = results::ranks_of(name.mesh) > usable_cores();
  header.command = command;
  header.variables = this_variables();
  return run;
}

Metric metric_of(const std::string& counter) {
  if (counter == "bytes_per_second") return results::rate(counter, "B/s");
  if (counter == "items_per_second") return results::rate(counter, "1/s");
  return results::counter(counter);
}

/// The repetitions of one benchmark; aggregates are computed from them when asked for.
void add_times(StoredRun& run, const std::vector<benchmark::BenchmarkReporter::Run>& reports) {
  std::vector<double> real, cpu;
  std::map<std::string, std::vector<double>> counters;
  for (const auto& report : reports) {
    if (report.run_type != benchmark::BenchmarkReporter::Run::RT_Iteration) continue;
    if (report.error_occurred) {
      run.status = RunStatus::skipped;
      run.reason = report.error_message.empty() ? "no reason given" : report.error_message;
      continue;
    }
    const double scale = benchmark::GetTimeUnitMultiplier(report.time_unit);
    real.push_back(report.GetAdjustedRealTime() / scale);
    cpu.push_back(report.GetAdjustedCPUTime() / scale);
    for (const auto& [name, value] : report.counters) counters[name].push_back(value.value);
  }
  results::add_samples(run, results::step_seconds(), real);
  results::add_samples(run, results::cpu_seconds(), cpu);
  for (const auto& [name, values] : counters) results::add_samples(run, metric_of(name), values);
}

}  // namespace

StoredReport::StoredReport(const std::string& database, std::string command)
    : ConsoleReporter(isatty(STDOUT_FILENO) != 0 ? OO_ColorTabular : OO_Tabular),
      store_(database),
      command_(std::move(command)) {}

void StoredReport::ReportRuns(const std::vector<Run>& reports) {
  ConsoleReporter::ReportRuns(reports);
  if (reports.empty() || reports[0].run_type != Run::RT_Iteration) return;
  StoredRun run = run_of(reports[0], command_);
  add_times(run, reports);
  const results::RunId id = store_.start_run(run.header);
  store_.append(id, run.rows);
  store_.finish_run(id, run.status, run.reason);
  ++stored_;
}

}  // namespace shardlab::perf
