#include "tools/measured_rows.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "results/query.h"
#include "results/scaling.h"
#include "tools/reproduce.h"

namespace shardlab {
namespace {

using results::PublishedRow;
using results::RunInfo;

/// Whether a stored run solved the problem of a row.
bool solves(const RunInfo& run, const PublishedRow& row, const Params& params) {
  if (run.status != results::RunStatus::complete || !results::is_measured(run.series) ||
      run.series.train != row.train || run.series.mesh != fmt::format("domain={}", row.gpus))
    return false;
  // What a product may round is a property of the device; the numbers are of one type.
  if (parse_precision(run.series.dtype).dtype != params.precision.dtype) return false;
  nlohmann::json parameters = nlohmann::json::object();
  for (const auto& [name, value] : params.all()) parameters[name] = value;
  return nlohmann::json::parse(run.series.parameters) == parameters;
}

}  // namespace

MeasuredRows::MeasuredRows(const Scenarios& scenarios, const results::PublishedRows& published,
                           const std::string& database) {
  if (published.rows.empty() || !std::filesystem::exists(database)) return;
  const results::Reader reader = results::open_for_reading(database);
  const std::vector<RunInfo> runs = results::list_runs(reader, {.scenario = published.scenario});
  std::map<std::string, std::string> machines;
  for (const PublishedRow& row : published.rows) {
    if (row.use == PublishedRow::Use::show) continue;
    const Params params = params_of(scenarios, published, row);
    for (const RunInfo& run : runs) {
      if (!solves(run, row, params)) continue;
      const auto summary = results::summarize(reader, run.id, results::step_seconds().name);
      if (!summary) continue;
      const std::string number = std::to_string(run.id.value);
      by_line_[row.line] = {summary->median, number};
      const std::string machine =
          fmt::format("{} ({})", results::read_run(reader, run.id).header.environment.processor,
                      name_of(run.series.execution));
      std::string& its = machines[machine];
      its += (its.empty() ? "" : ", ") + number;
      break;
    }
  }
  for (const auto& [machine, numbers] : machines)
    notes_.push_back(fmt::format("runs {} on {}", numbers, machine));
}

const MeasuredRow* MeasuredRows::of(const PublishedRow& row) const {
  const auto found = by_line_.find(row.line);
  return found == by_line_.end() ? nullptr : &found->second;
}

}  // namespace shardlab
