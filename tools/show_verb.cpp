#include <algorithm>
#include <filesystem>

#include "engine/core/check.h"
#include "engine/sim/machine_toml.h"
#include "results/json.h"
#include "results/query.h"
#include "results/scaling.h"
#include "tools/curve_text.h"
#include "tools/machine_text.h"
#include "tools/metric_cells.h"
#include "tools/perfetto.h"
#include "tools/sample_notes.h"
#include "tools/show.h"
#include "tools/table.h"

namespace shardlab {
namespace {

using results::Curve;
using results::CurveRow;
using results::Reader;

Reader open(const Request& request) {
  Reader reader = results::open_for_reading(request.database);
  if (!reader.notice().empty()) fmt::print(stderr, "{}\n", reader.notice());
  return reader;
}

void print_curves(const Request& request, const Reader& reader,
                  const std::vector<const Curve*>& curves, const std::vector<Curve>& all) {
  if (request.json) {
    fmt::print("{}\n", curves_json(curves, all));
    return;
  }
  for (const Curve* curve : curves) fmt::print("{}\n", curve_text(reader, *curve, all));
}

void print_folds(const results::StoredRun& run) {
  if (run.rows.folds.empty()) return;
  constexpr std::size_t most = 16;
  Table table({"stored rank", "stands for", "ranks"});
  for (std::size_t i = 0; i < std::min(most, run.rows.folds.size()); ++i) {
    const results::Fold& fold = run.rows.folds[i];
    table.row({std::to_string(fold.rank), std::to_string(fold.ranks), fold.members});
  }
  fmt::print("\n{}", table.text());
  if (run.rows.folds.size() > most)
    fmt::print("and {} classes more\n", run.rows.folds.size() - most);
}

/// What a run without samples holds instead: the machine that a probe measured, or a timeline.
void print_held(const Request& request, const Reader& reader, const results::StoredRun& run) {
  if (is_probe(run.header.series)) {
    const std::string file = fmt::format("{}, run {}", request.database, run.id.value);
    fmt::print("{}", machine_text(sim::read_machine({"this-cpu", file, run.header.layouts})));
    return;
  }
  const std::size_t steps = results::read_timeline(reader, run.id).steps.size();
  fmt::print("it holds no samples{}\n",
             steps > 0 ? fmt::format(", but a timeline of {} steps: `shardlab show {} --perfetto "
                                     "trace.json`",
                                     steps, run.id.value)
                       : " and no timeline");
}

void print_run(const Request& request, const Reader& reader, const results::StoredRun& run) {
  const results::RunHeader& header = run.header;
  fmt::print("run {} ({})\n{}\n", run.id.value, run.uuid, title_of(header.series));
  if (const std::string parameters = parameters_of(header.series); !parameters.empty())
    fmt::print("  {}\n", parameters);
  Table facts({"field", "value"});
  facts.row({"status", std::string(results::name_of(run.status)) +
                           (run.reason.empty() ? "" : ": " + run.reason)});
  facts.row({"mesh", header.series.mesh + (header.oversubscribed ? " (oversubscribed)" : "")});
  facts.row({"created", header.created});
  facts.row({"commit", header.commit + (header.dirty ? " (with changes)" : "")});
  for (const auto& [name, value] : results::fields_of(header.environment))
    if (!value.empty() && value != "{}") facts.row({name, value});
  if (!header.source.empty()) facts.row({"source", header.source});
  facts.row({"command", header.command});
  for (const std::string& doubt : doubts_in(header.state)) facts.row({"doubtful", doubt});
  fmt::print("{}\n", facts.text());
  std::string sources;
  std::vector<std::string> heads = metric_heads();
  heads.emplace_back("samples");
  Table metrics(std::move(heads));
  for (const results::MetricSamples& samples : run.rows.metrics) {
    std::vector<std::string> cells = metric_cells(reader, header.series, run.id, samples.metric);
    cells.push_back(std::to_string(samples.samples.size()));
    metrics.row(std::move(cells));
    const auto summary = results::summarize(reader, run.id, samples.metric.name);
    if (summary && !summary->source.empty())
      sources += fmt::format("weakest source of {}: {}\n", samples.metric.name, summary->source);
  }
  if (metrics.empty())
    print_held(request, reader, run);
  else
    fmt::print("{}{}", metrics.text(), sources);
  print_folds(run);
  if (run.rows.checks.empty()) return;
  std::vector<results::Check> checks = run.rows.checks;
  std::stable_sort(checks.begin(), checks.end(), [](const auto& a, const auto& b) {
    return a.error / a.bound > b.error / b.bound;
  });
  const std::size_t shown = std::min<std::size_t>(checks.size(), 8);
  Table table({"check", "error", "allowed", "passed"});
  for (std::size_t i = 0; i < shown; ++i)
    table.row({checks[i].name, fmt::format("{:.2e}", checks[i].error),
               fmt::format("{:.0e}", checks[i].bound), checks[i].passed() ? "yes" : "NO"});
  fmt::print("\n{}", table.text());
  if (shown < checks.size())
    fmt::print("and {} checks that are further from their bound\n", checks.size() - shown);
}

void write_timeline(const Request& request, const Reader& reader, const results::StoredRun& run) {
  std::error_code ignored;
  check(!std::filesystem::equivalent(request.perfetto, request.database, ignored),
        "--perfetto {}: that is the results file", request.perfetto);
  const results::Timeline timeline = results::read_timeline(reader, run.id);
  write_perfetto(run, timeline, request.perfetto);
  fmt::print(stderr, "{}: {} steps of run {}; ui.perfetto.dev opens it\n", request.perfetto,
             timeline.steps.size(), run.id.value);
}

void print_list(const Reader& reader, const Request& request) {
  Table table({"run", "created", "scenario", "mesh", "dtype", "mode", "on", "status", "commit"});
  for (const results::RunInfo& run : results::list_runs(reader))
    table.row(
        {std::to_string(run.id.value), run.created.substr(0, 16), run.series.scenario,
         run.series.mesh, run.series.dtype, mode_of(run.series), place_of(run.series),
         std::string(results::name_of(run.status)) + (run.oversubscribed ? ", oversubscribed" : ""),
         run.commit.substr(0, 8)});
  if (table.empty())
    fmt::print("no runs in {}; `shardlab run` makes some\n", request.database);
  else
    fmt::print("{}", table.text());
}

}  // namespace

void print_runs(const Request& request, const std::vector<results::RunId>& runs) {
  const Reader reader = open(request);
  const std::vector<Curve> curves = results::scaling_curves(reader);
  std::vector<const Curve*> mine;
  for (const Curve& curve : curves) {
    const bool has = std::any_of(curve.rows.begin(), curve.rows.end(), [&](const CurveRow& row) {
      return std::find(runs.begin(), runs.end(), row.run) != runs.end();
    });
    if (has) mine.insert(mine.begin(), &curve);
  }
  print_curves(request, reader, mine, curves);
}

Exit show_verb(const Request& request) {
  check(request.perfetto.empty() || (request.names.size() == 1 && request.names[0] != "runs"),
        "--perfetto shows one run: expected its number or uuid");
  if (!request.names.empty() && request.names[0] == "machine") {
    check(request.names.size() >= 2, "show machine NAME: `shardlab list machines` names them");
    show_machines({request.names.begin() + 1, request.names.end()}, request.json);
    return Exit::fine;
  }
  const Reader reader = open(request);
  if (request.names.empty()) {
    const std::vector<Curve> curves = results::scaling_curves(reader);
    std::vector<const Curve*> all;
    for (const Curve& curve : curves) all.push_back(&curve);
    if (all.empty() && !request.json) print_list(reader, request);
    print_curves(request, reader, all, curves);
    return Exit::fine;
  }
  for (const std::string& name : request.names) {
    if (name == "runs") {
      print_list(reader, request);
      continue;
    }
    const results::StoredRun run = results::read_run(reader, results::find_run(reader, name));
    if (!request.perfetto.empty())
      write_timeline(request, reader, run);
    else if (request.json)
      fmt::print("{}\n", results::to_json(run));
    else
      print_run(request, reader, run);
  }
  return Exit::fine;
}

}  // namespace shardlab
