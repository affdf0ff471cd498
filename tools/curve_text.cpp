#include "tools/curve_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "results/one_line.h"
#include "tools/json_text.h"
#include "tools/metric_cells.h"
#include "tools/sample_notes.h"
#include "tools/table.h"

namespace shardlab {
namespace {

using results::Companion;
using results::Curve;
using results::CurveRow;
using results::Execution;
using results::mark_of;
using results::Reader;

std::string check_of(const CurveRow& row) {
  if (row.checks.failed > 0)
    return fmt::format("{} of {} failed", row.checks.failed, row.checks.failed + row.checks.passed);
  return row.checks.passed > 0 ? fmt::format("{} ok", row.checks.passed) : "-";
}

std::string time_of(const CurveRow& row, const char* mark) {
  return row.seconds ? mark + show_seconds(row.seconds->median) : "-";
}

std::string interval_of(const CurveRow& row, const char* mark) {
  if (!row.seconds || !row.seconds->interval) return "-";
  return mark + show_range(row.seconds->interval->low, row.seconds->interval->high);
}

/// The coverage of the first interval among rows, for the head of their column.
std::string interval_head(const std::vector<CurveRow>& rows) {
  for (const CurveRow& row : rows)
    if (row.seconds && row.seconds->interval)
      return fmt::format("{:.3g} % interval", row.seconds->coverage * 100);
  return "interval";
}

std::vector<std::string> cells_of(const Reader& reader, const Curve& curve, const CurveRow& row) {
  const char* mark = mark_of(curve.series);
  const auto flop = results::summarize(reader, row.run, results::flop().name);
  const bool timed = row.seconds && row.seconds->median > 0;
  return {row.mesh,
          time_of(row, mark),
          interval_of(row, mark),
          row.speedup && !row.oversubscribed ? fmt::format("{}{:.2f}x", mark, *row.speedup) : "-",
          row.oversubscribed ? "oversubscribed"
          : row.efficiency   ? mark + show_percent(*row.efficiency)
                             : "-",
          flop && timed ? mark + show_flop(flop->median / row.seconds->median) + "/s" : "-",
          row.peak_bytes ? show_bytes(*row.peak_bytes) : "-",
          row.bytes_sent ? show_bytes(*row.bytes_sent) : "-",
          check_of(row)};
}

/// Weak scaling keeps the sizes of a rank; where that does not keep its work, as in attention, the
/// efficiency shows it as well.
std::string work_text(const Reader& reader, const Curve& curve) {
  std::string text;
  double alone = 0;
  for (const CurveRow& row : curve.rows) {
    const auto flop = results::summarize(reader, row.run, results::flop().name);
    if (!flop) continue;
    const double each = flop->median / static_cast<double>(row.ranks);
    if (row.ranks == 1) alone = each;
    if (alone > 0 && std::abs(each / alone - 1) > 0.01)
      text += fmt::format("  {}: a rank does {:.2f} times the flop of one alone\n", row.mesh,
                          each / alone);
  }
  return text;
}

std::string sources_text(const Curve& curve) {
  std::map<std::string, std::string> sources;  // The meshes of each.
  for (const CurveRow& row : curve.rows)
    if (row.seconds && !row.seconds->source.empty()) sources[row.seconds->source] += " " + row.mesh;
  std::string text;
  for (const auto& [source, meshes] : sources)
    text += (text.empty() ? "" : "; ") + source + (sources.size() > 1 ? ":" + meshes : "");
  if (text.empty()) return "";
  const bool predicted = curve.series.execution == Execution::predict;
  return fmt::format("  {}: {}\n", predicted ? "weakest source of the times" : "intervals", text);
}

/// Measured times beside those that were predicted or published for the same mesh.
std::string beside_text(const Curve& curve, const std::vector<Curve>& all) {
  std::vector<CurveRow> others;
  std::vector<std::vector<Companion>> beside;
  for (const CurveRow& row : curve.rows) {
    beside.push_back(results::companions(curve, row, all));
    for (const Companion& each : beside.back()) others.push_back(*each.row);
  }
  if (others.empty()) return "";
  Table table({"mesh", "measured", "beside it", interval_head(others), "of measured", "from"});
  for (std::size_t r = 0; r < curve.rows.size(); ++r)
    for (const Companion& each : beside[r]) {
      const bool first = &each == &beside[r].front();
      const results::SeriesKey& series = each.curve->series;
      const char* mark = mark_of(series);
      table.row({first ? curve.rows[r].mesh : "", first ? time_of(curve.rows[r], "") : "",
                 time_of(*each.row, mark), interval_of(*each.row, mark),
                 each.ratio ? mark + show_percent(*each.ratio) : "-",
                 fmt::format("{} {}, {}", *mark == '~' ? "predicted" : "published", series.machine,
                             series.profile)});
    }
  return table.text();
}

/// Of runs that timed no step what they hold instead.
std::string metrics_text(const Reader& reader, const Curve& curve) {
  std::vector<std::string> heads = metric_heads();
  heads.insert(heads.begin(), "mesh");
  Table table(std::move(heads));
  for (std::vector<std::string>& row : metric_rows(reader, curve)) table.row(std::move(row));
  return table.empty() ? "  no samples\n" : table.text();
}

nlohmann::json or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

nlohmann::json json_of(const std::optional<results::Summary>& summary) {
  if (!summary || !summary->interval) return nullptr;
  return {{"low", summary->interval->low},
          {"high", summary->interval->high},
          {"coverage", summary->coverage},
          {"source", summary->source}};
}

nlohmann::json json_of(const Companion& companion) {
  const results::SeriesKey& series = companion.curve->series;
  return {{"execution", results::name_of(series.execution)},
          {"machine", series.machine},
          {"profile", series.profile},
          {"run", companion.row->run.value},
          {"seconds", companion.row->seconds->median},
          {"interval", json_of(companion.row->seconds)},
          {"of_measured", or_null(companion.ratio)}};
}

nlohmann::json json_of(const Curve& curve, const std::vector<Curve>& all) {
  nlohmann::json json{{"scenario", curve.series.scenario},
                      {"parameters", nlohmann::json::parse(curve.series.parameters)},
                      {"dtype", curve.series.dtype},
                      {"train", curve.series.train},
                      {"execution", results::name_of(curve.series.execution)},
                      {"machine", curve.series.machine},
                      {"profile", curve.series.profile},
                      {"environment", curve.environment},
                      {"rows", nlohmann::json::array()}};
  for (const CurveRow& row : curve.rows) {
    nlohmann::json each{{"mesh", row.mesh},
                        {"ranks", row.ranks},
                        {"run", row.run.value},
                        {"status", results::name_of(row.status)},
                        {"reason", row.reason},
                        {"oversubscribed", row.oversubscribed},
                        {"interval", json_of(row.seconds)},
                        {"speedup", or_null(row.speedup)},
                        {"efficiency", or_null(row.efficiency)},
                        {"peak_bytes", or_null(row.peak_bytes)},
                        {"bytes_received", or_null(row.bytes_sent)},
                        {"checks_passed", row.checks.passed},
                        {"checks_failed", row.checks.failed},
                        {"beside", nlohmann::json::array()}};
    each["seconds"] = row.seconds ? nlohmann::json(row.seconds->median) : nlohmann::json();
    for (const Companion& companion : results::companions(curve, row, all))
      each["beside"].push_back(json_of(companion));
    json["rows"].push_back(std::move(each));
  }
  return json;
}

}  // namespace

std::string curve_text(const Reader& reader, const Curve& curve, const std::vector<Curve>& all) {
  if (is_probe(curve.series))
    return fmt::format("{}\n  its numbers: shardlab show {}\n", title_of(curve.series),
                       curve.rows.front().run.value);
  std::string text = title_of(curve.series) + "\n";
  if (const std::string parameters = parameters_of(curve.series); !parameters.empty())
    text += fmt::format("  {}\n", parameters);
  if (is_untimed(curve)) return text + metrics_text(reader, curve);
  Table table({"mesh", "step", interval_head(curve.rows), "speedup", "efficiency", "flop rate",
               "peak", "received", "check"});
  for (const CurveRow& row : curve.rows) table.row(cells_of(reader, curve, row));
  text += table.text();
  if (results::is_weak(curve.series))
    text += "  sizes are those of one rank; efficiency is T1/TN\n" + work_text(reader, curve);
  for (const CurveRow& row : curve.rows)
    if (row.status != results::RunStatus::complete)
      text += fmt::format("  {} {}: {}\n", row.mesh, results::name_of(row.status),
                          results::one_line(row.reason));
  return text + sample_notes(reader, curve) + sources_text(curve) + beside_text(curve, all);
}

std::string curves_json(const std::vector<const Curve*>& curves, const std::vector<Curve>& all) {
  nlohmann::json json = nlohmann::json::array();
  for (const Curve* curve : curves) json.push_back(json_of(*curve, all));
  return json_text(json);
}

}  // namespace shardlab
