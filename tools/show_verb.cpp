#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/core/check.h"
#include "results/json.h"
#include "results/query.h"
#include "results/scaling.h"
#include "tools/show.h"
#include "tools/table.h"

namespace shardlab {
namespace {

using results::Curve;
using results::CurveRow;
using results::Reader;
using results::RunStatus;

Reader open(const Request& request) {
  Reader reader = results::open_for_reading(request.database);
  if (!reader.notice().empty()) fmt::print(stderr, "{}\n", reader.notice());
  return reader;
}

std::string mode_of(const results::SeriesKey& series) {
  return std::string(series.train ? "training" : "inference") +
         (results::is_weak(series) ? ", weak scaling" : "");
}

std::string title_of(const results::SeriesKey& series) {
  std::string text = fmt::format("{}, {}, {}, on {}", series.scenario, series.dtype,
                                 mode_of(series), results::name_of(series.execution));
  if (!series.machine.empty()) text += " " + series.machine;
  return text;
}

std::string parameters_of(const results::SeriesKey& series) {
  const nlohmann::json parameters = nlohmann::json::parse(series.parameters);
  std::string text;
  std::size_t line = 0;
  for (const auto& [name, value] : parameters.items()) {
    const std::string each =
        fmt::format("{}={}", name, value.is_string() ? value.get<std::string>() : value.dump());
    const bool fits = line + each.size() < 110;
    text += (text.empty() ? "" : fits ? " " : "\n  ") + each;
    line = fits ? line + each.size() + 1 : each.size();
  }
  return text;
}

std::string check_of(const CurveRow& row) {
  if (row.checks.failed > 0)
    return fmt::format("{} of {} failed", row.checks.failed, row.checks.failed + row.checks.passed);
  return row.checks.passed > 0 ? fmt::format("{} ok", row.checks.passed) : "-";
}

std::vector<std::string> cells_of(const Reader& reader, const CurveRow& row) {
  const auto flop = results::summarize(reader, row.run, results::flop().name);
  const bool timed = row.seconds && row.seconds->median > 0;
  return {row.mesh,
          row.seconds ? show_seconds(row.seconds->median) : "-",
          row.seconds && row.seconds->interval
              ? show_range(row.seconds->interval->low, row.seconds->interval->high)
              : "-",
          row.speedup && !row.oversubscribed ? fmt::format("{:.2f}x", *row.speedup) : "-",
          row.oversubscribed ? "oversubscribed"
          : row.efficiency   ? show_percent(*row.efficiency)
                             : "-",
          flop && timed ? show_flop(flop->median / row.seconds->median) + "/s" : "-",
          row.peak_bytes ? show_bytes(*row.peak_bytes) : "-",
          row.bytes_sent ? show_bytes(*row.bytes_sent) : "-",
          check_of(row)};
}

/// Weak scaling keeps the sizes of a rank; where that does not keep its work, as in attention, the
/// efficiency shows it as well.
void print_work(const Reader& reader, const Curve& curve) {
  double alone = 0;
  for (const CurveRow& row : curve.rows) {
    const auto flop = results::summarize(reader, row.run, results::flop().name);
    if (!flop) continue;
    const double each = flop->median / static_cast<double>(row.ranks);
    if (row.ranks == 1) alone = each;
    if (alone > 0 && std::abs(each / alone - 1) > 0.01)
      fmt::print("  {}: a rank does {:.2f} times the flop of one alone\n", row.mesh, each / alone);
  }
}

void print_curve(const Reader& reader, const Curve& curve) {
  fmt::print("{}\n  {}\n", title_of(curve.series), parameters_of(curve.series));
  Table table({"mesh", "step", "95 % interval", "speedup", "efficiency", "flop rate", "peak",
               "received", "check"});
  for (const CurveRow& row : curve.rows) table.row(cells_of(reader, row));
  fmt::print("{}", table.text());
  if (results::is_weak(curve.series)) {
    fmt::print("  sizes are those of one rank; efficiency is T1/TN\n");
    print_work(reader, curve);
  }
  for (const CurveRow& row : curve.rows)
    if (row.status != RunStatus::complete)
      fmt::print("  {} {}: {}\n", row.mesh, results::name_of(row.status), row.reason);
  fmt::print("\n");
}

nlohmann::json json_of(const Curve& curve) {
  nlohmann::json json{{"scenario", curve.series.scenario},
                      {"parameters", nlohmann::json::parse(curve.series.parameters)},
                      {"dtype", curve.series.dtype},
                      {"train", curve.series.train},
                      {"execution", results::name_of(curve.series.execution)},
                      {"environment", curve.environment},
                      {"rows", nlohmann::json::array()}};
  const auto or_null = [](const std::optional<double>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json();
  };
  for (const CurveRow& row : curve.rows) {
    nlohmann::json each{{"mesh", row.mesh},
                        {"ranks", row.ranks},
                        {"run", row.run.value},
                        {"status", results::name_of(row.status)},
                        {"reason", row.reason},
                        {"oversubscribed", row.oversubscribed},
                        {"speedup", or_null(row.speedup)},
                        {"efficiency", or_null(row.efficiency)},
                        {"peak_bytes", or_null(row.peak_bytes)},
                        {"bytes_received", or_null(row.bytes_sent)},
                        {"checks_passed", row.checks.passed},
                        {"checks_failed", row.checks.failed}};
    each["seconds"] = row.seconds ? nlohmann::json(row.seconds->median) : nlohmann::json();
    json["rows"].push_back(std::move(each));
  }
  return json;
}

void print_curves(const Request& request, const Reader& reader,
                  const std::vector<const Curve*>& curves) {
  if (request.json) {
    nlohmann::json all = nlohmann::json::array();
    for (const Curve* curve : curves) all.push_back(json_of(*curve));
    fmt::print("{}\n", all.dump(2));
    return;
  }
  for (const Curve* curve : curves) print_curve(reader, *curve);
}

void print_run(const Reader& reader, const results::StoredRun& run) {
  const results::RunHeader& header = run.header;
  fmt::print("run {} ({})\n{}\n  {}\n", run.id.value, run.uuid, title_of(header.series),
             parameters_of(header.series));
  Table facts({"field", "value"});
  facts.row({"status", std::string(results::name_of(run.status)) +
                           (run.reason.empty() ? "" : ": " + run.reason)});
  facts.row({"mesh", header.series.mesh + (header.oversubscribed ? " (oversubscribed)" : "")});
  facts.row({"created", header.created});
  facts.row({"commit", header.commit + (header.dirty ? " (with changes)" : "")});
  for (const auto& [name, value] : results::fields_of(header.environment)) facts.row({name, value});
  facts.row({"command", header.command});
  fmt::print("{}\n", facts.text());
  Table metrics({"metric", "unit", "median", "iterations", "samples"});
  for (const results::MetricSamples& samples : run.rows.metrics) {
    const auto summary = results::summarize(reader, run.id, samples.metric.name);
    metrics.row({samples.metric.name, samples.metric.unit,
                 summary ? fmt::format("{:.6g}", summary->median) : "-",
                 summary ? std::to_string(summary->iterations) : "-",
                 std::to_string(samples.samples.size())});
  }
  fmt::print("{}", metrics.text());
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

void print_list(const Reader& reader, const Request& request) {
  Table table({"run", "created", "scenario", "mesh", "dtype", "mode", "status", "commit"});
  for (const results::RunInfo& run : results::list_runs(reader))
    table.row(
        {std::to_string(run.id.value), run.created.substr(0, 19), run.series.scenario,
         run.series.mesh, run.series.dtype, mode_of(run.series),
         std::string(results::name_of(run.status)) + (run.oversubscribed ? ", oversubscribed" : ""),
         run.commit.substr(0, 10)});
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
  print_curves(request, reader, mine);
}

Exit show_verb(const Request& request) {
  const Reader reader = open(request);
  if (request.names.empty()) {
    const std::vector<Curve> curves = results::scaling_curves(reader);
    std::vector<const Curve*> all;
    for (const Curve& curve : curves) all.push_back(&curve);
    if (all.empty() && !request.json) print_list(reader, request);
    print_curves(request, reader, all);
    return Exit::fine;
  }
  for (const std::string& name : request.names) {
    if (name == "runs") {
      print_list(reader, request);
      continue;
    }
    const results::StoredRun run = results::read_run(reader, results::find_run(reader, name));
    if (request.json)
      fmt::print("{}\n", results::to_json(run));
    else
      print_run(reader, run);
  }
  return Exit::fine;
}

}  // namespace shardlab
