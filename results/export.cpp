#include "results/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "results/csv.h"
#include "results/json.h"

namespace shardlab::results {
namespace {

/// Columns that every row of a run repeats.
std::vector<std::pair<std::string, std::string>> facts_of(const StoredRun& run) {
  const RunHeader& header = run.header;
  std::vector<std::pair<std::string, std::string>> facts{
      {"run", csv_text(run.uuid)},
      {"created", csv_text(header.created)},
      {"status", name_of(run.status)},
      {"reason", csv_text(run.reason)},
      {"oversubscribed", header.oversubscribed ? "true" : "false"},
      {"ranks", fmt::format("{}", ranks_of(header.series.mesh))},
      {"commit", csv_text(header.commit)},
      {"branch", csv_text(header.branch)},
      {"dirty", header.dirty ? "true" : "false"},
      {"seed", fmt::format("{}", header.seed)},
      {"source", csv_text(header.source)},
      {"environment", hash_of(header.environment)}};
  for (const auto& [name, value] : fields_of(header.series))
    facts.emplace_back(name, csv_text(value));
  for (const auto& [name, value] : fields_of(header.environment))
    facts.emplace_back(name, csv_text(value));
  return facts;
}

/// What has samples in any of the runs, in the order of the first that has them.
std::vector<Metric> metrics_of_all(const Reader& reader, const std::vector<RunId>& runs) {
  std::vector<Metric> all;
  for (const RunId run : runs)
    for (const Metric& metric : metrics_of(reader, run))
      if (std::find(all.begin(), all.end(), metric) == all.end()) all.push_back(metric);
  return all;
}

/// The cells of one iteration and rank, by the place of their metric.
using Cells = std::vector<std::string>;

void write_rows(const StoredRun& run, const std::vector<Metric>& metrics, const Sink& sink) {
  std::string facts;
  for (const auto& [name, value] : facts_of(run)) facts += value + ',';
  std::map<std::tuple<std::int64_t, std::int32_t, bool>, Cells> rows;
  for (const MetricSamples& samples : run.rows.metrics) {
    const auto at = std::find(metrics.begin(), metrics.end(), samples.metric) - metrics.begin();
    for (const Sample& sample : samples.samples) {
      Cells& cells = rows[{sample.iteration, sample.rank, sample.warmup}];
      cells.resize(metrics.size());
      cells[static_cast<std::size_t>(at)] = fmt::format("{}", sample.value);
    }
  }
  const auto write = [&](const std::string& place, const Cells& cells) {
    std::string line = facts + place;
    for (const std::string& cell : cells) line += ',' + cell;
    sink(line + "\r\n");
  };
  if (rows.empty()) write(",,", Cells(metrics.size()));
  for (const auto& [place, cells] : rows) {
    const auto& [iteration, rank, warmup] = place;
    write(fmt::format("{},{},{}", iteration, rank, warmup), cells);
  }
}

}  // namespace

void export_csv(const Reader& reader, const std::vector<RunId>& runs, const Sink& sink) {
  const std::vector<Metric> metrics = metrics_of_all(reader, runs);
  std::string header;
  StoredRun none;
  for (const auto& [name, value] : facts_of(none)) header += name + ',';
  header += "iteration,rank,warmup";
  for (const Metric& metric : metrics)
    header += ',' + csv_text(fmt::format("{} [{}]", metric.name, metric.unit));
  sink(header + "\r\n");
  for (const RunId run : runs) write_rows(read_run(reader, run), metrics, sink);
}

void export_json(const Reader& reader, const std::vector<RunId>& runs, const Sink& sink) {
  sink("[");
  for (std::size_t i = 0; i < runs.size(); ++i) {
    sink(i == 0 ? "\n" : ",\n");
    sink(to_json(read_run(reader, runs[i])));
  }
  sink("\n]\n");
}

}  // namespace shardlab::results
