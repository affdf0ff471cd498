#include "tools/import_nccl.h"

#include "engine/core/check.h"

namespace shardlab {
namespace {

using results::AcrossRanks;
using results::Better;
using results::RunStatus;
using results::StoredRun;

/// Element types as the project names them; others stay as printed.
std::string dtype_of(const std::string& printed) {
  if (printed == "float") return "float32";
  if (printed == "double") return "float64";
  if (printed == "half") return "float16";
  return printed;
}

std::string mesh_of(const sim::NcclRun& run, const sim::NcclLog& log,
                    const results::ImportOptions& options) {
  if (!options.mesh.empty()) {
    const std::int64_t ranks = results::ranks_of(options.mesh);
    check(run.may_have_ranks(static_cast<int>(ranks)),
          "{}: --mesh {}: the numbers allow {} to {} ranks", sim::place(log.name, run.line),
          options.mesh, run.least_ranks, run.most_ranks);
    return options.mesh;
  }
  const std::string range = run.most_ranks > 0 ? fmt::format(" (the numbers fit {} to {})",
                                                             run.least_ranks, run.most_ranks)
                                               : "";
  check(run.ranks > 0, "{}: nothing says how many ranks ran{}: give --mesh",
        sim::place(log.name, run.line), range);
  return fmt::format("domain={}", run.ranks);
}

/// Times and rates of one half; a doubtful one is left out.
void add_timing(StoredRun& run, const sim::NcclTiming& timing, const results::Metric& seconds,
                const char* rate) {
  if (timing.doubtful) return;
  results::add_samples(run, seconds, {timing.seconds.value});
  results::add_samples(run, results::rate(rate, "B/s"), {timing.busbw.value});
  if (timing.wrong && *timing.wrong > 0) {
    run.status = RunStatus::failed;
    run.reason = fmt::format("{} wrong elements", *timing.wrong);
  }
}

StoredRun run_of(const sim::NcclRun& log_run, const sim::NcclRow& row, const std::string& mesh) {
  StoredRun run = results::imported_run(results::Execution::cuda, "nccl-tests");
  results::SeriesKey& series = run.header.series;
  series.scenario = log_run.collective.empty() ? "unnamed collective" : log_run.collective;
  std::map<std::string, std::string> parameters{{"bytes", std::to_string(row.bytes)}};
  if (!log_run.redop.empty()) parameters["operation"] = log_run.redop;
  if (log_run.root >= 0) parameters["root"] = std::to_string(log_run.root);
  series.parameters = results::parameters_text(parameters);
  series.dtype = dtype_of(log_run.dtype);
  series.mesh = mesh;
  results::EnvironmentKey& environment = run.header.environment;
  environment.processor = log_run.gpu;
  if (!log_run.version.empty()) environment.libraries["NCCL"] = log_run.version;
  if (row.out_of_place)
    add_timing(run, *row.out_of_place, results::step_seconds(), "bus_bytes_per_second");
  if (row.in_place)
    add_timing(run, *row.in_place,
               {"in_place_seconds", "s", false, Better::lower, AcrossRanks::max},
               "in_place_bus_bytes_per_second");
  if (run.rows.metrics.empty() && run.status == RunStatus::complete) {
    run.status = RunStatus::skipped;
    run.reason = "its times are doubtful";
  }
  return run;
}

}  // namespace

results::Imported read_nccl_import(const sim::NcclLog& log, const results::ImportOptions& options) {
  results::Imported imported{"nccl-tests", {}, {}};
  for (const sim::Oddity& oddity : log.oddities)
    imported.notes.push_back({oddity.line, oddity.text});
  for (const sim::NcclRun& run : log.runs) {
    const std::string mesh = mesh_of(run, log, options);
    for (const sim::Suspicion& suspicion : run.suspicions)
      imported.notes.push_back({suspicion.line, suspicion.text});
    for (const sim::Oddity& oddity : run.oddities)
      imported.notes.push_back({oddity.line, oddity.text});
    for (const sim::NcclRow& row : run.rows) imported.runs.push_back(run_of(run, row, mesh));
  }
  return imported;
}

bool may_be_nccl_log(std::string_view text) {
  return text.find("busbw") != std::string_view::npos ||
         text.find("bus_bw") != std::string_view::npos;
}

}  // namespace shardlab
