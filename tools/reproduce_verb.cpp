#include "tools/reproduce_verb.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/core/check.h"
#include "tools/table.h"

namespace shardlab {
namespace {

using results::PublishedRow;

std::string percent(const std::optional<double>& error) {
  return error ? fmt::format("{:+.1f} %", 100 * *error) : "-";
}

std::string parameters_of(const PublishedRow& row) {
  std::string text;
  for (const auto& [name, value] : row.parameters)
    text += fmt::format("{}{}", text.empty() ? "" : " ", value);
  return text;
}

const char* name_of(PublishedRow::Use use) {
  switch (use) {
    case PublishedRow::Use::calibrate:
      return "calibrate";
    case PublishedRow::Use::validate:
      return "validate";
    default:
      return "show";
  }
}

/// Errors of the rows of one mode and regime.
struct Summary {
  std::string title;
  std::vector<double> errors, baseline, memory;
};

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::abs(value);
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

bool in_regime(const results::PublishedRows& rows, const PublishedRow& row) {
  if (rows.regime_parameter.empty()) return true;
  const auto found = row.parameters.find(rows.regime_parameter);
  return found != row.parameters.end() && std::stod(found->second) >= rows.regime_from;
}

std::vector<Summary> summaries_of(const Reproduction& reproduction) {
  const results::PublishedRows& published = *reproduction.published;
  std::vector<Summary> all;
  for (const bool train : {false, true})
    for (const bool inside : {true, false}) {
      Summary summary;
      summary.title = train ? "training" : "inference";
      if (!published.regime_parameter.empty())
        summary.title += fmt::format(", {} {} {}", published.regime_parameter,
                                     inside ? "from" : "below", published.regime_from);
      for (const Reproduced& each : reproduction.rows) {
        if (each.row->train != train || each.row->use != PublishedRow::Use::validate ||
            in_regime(published, *each.row) != inside)
          continue;
        if (each.error()) summary.errors.push_back(*each.error());
        if (each.baseline_error()) summary.baseline.push_back(*each.baseline_error());
        if (each.memory_error()) summary.memory.push_back(*each.memory_error());
      }
      if (!summary.errors.empty()) all.push_back(std::move(summary));
    }
  return all;
}

void print(const Reproduction& reproduction) {
  const results::PublishedRows& published = *reproduction.published;
  fmt::print("{}: {}\n  source: {}\n  hardware: {}; predicted as {}, software {}\n", published.name,
             published.title, published.source, published.hardware, published.machine,
             published.profile);
  for (const std::string& line : reproduction.calibrated) fmt::print("  calibrated, {}\n", line);
  fmt::print("\n");
  bool memory = false;
  for (const Reproduced& each : reproduction.rows) memory = memory || each.row->peak_gib;
  std::vector<std::string> header{"mode",      "gpus",  "size",      "published",
                                  "predicted", "error", "T1/N + cN", "use"};
  if (memory) header.insert(header.end(), {"GiB", "predicted", "error"});
  Table table(header);
  for (const Reproduced& each : reproduction.rows) {
    const PublishedRow& row = *each.row;
    std::vector<std::string> cells{row.train ? "training" : "inference",
                                   std::to_string(row.gpus),
                                   parameters_of(row),
                                   row.seconds ? show_seconds(*row.seconds) : "-",
                                   "~" + show_seconds(each.prediction.simulated.seconds),
                                   percent(each.error()),
                                   percent(each.baseline_error()),
                                   name_of(row.use)};
    if (memory) {
      cells.push_back(row.peak_gib ? fmt::format("{:.1f}", *row.peak_gib) : "-");
      cells.push_back(fmt::format("~{:.2f}", each.prediction.memory.allocated / 0x1p30));
      cells.push_back(percent(each.memory_error()));
    }
    table.row(std::move(cells));
  }
  fmt::print("{}\n", table.text());
  Table sums({"validate rows", "rows", "mean", "largest", "baseline mean", "largest", "skill",
              "memory mean", "largest"});
  for (const Summary& summary : summaries_of(reproduction)) {
    const double mean = mean_of(summary.errors);
    const double baseline = mean_of(summary.baseline);
    sums.row(
        {summary.title, std::to_string(summary.errors.size()), fmt::format("{:.1f} %", 100 * mean),
         fmt::format("{:.1f} %", 100 * largest_of(summary.errors)),
         fmt::format("{:.1f} %", 100 * baseline),
         fmt::format("{:.1f} %", 100 * largest_of(summary.baseline)),
         baseline > 0 ? fmt::format("{:.2f}", 1 - mean / baseline) : "-",
         summary.memory.empty() ? "-" : fmt::format("{:.1f} %", 100 * mean_of(summary.memory)),
         summary.memory.empty() ? "-" : fmt::format("{:.1f} %", 100 * largest_of(summary.memory))});
  }
  fmt::print("{}\n", sums.text());
}

nlohmann::json json_of(const Reproduction& reproduction) {
  const auto or_null = [](const std::optional<double>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json();
  };
  nlohmann::json rows = nlohmann::json::array();
  for (const Reproduced& each : reproduction.rows)
    rows.push_back({{"train", each.row->train},
                    {"gpus", each.row->gpus},
                    {"parameters", each.row->parameters},
                    {"use", name_of(each.row->use)},
                    {"published_seconds", or_null(each.row->seconds)},
                    {"predicted_seconds", each.prediction.simulated.seconds},
                    {"baseline_seconds", or_null(each.baseline_seconds)},
                    {"published_gib", or_null(each.row->peak_gib)},
                    {"predicted_gib", each.prediction.memory.allocated / 0x1p30}});
  return {{"name", reproduction.published->name},
          {"machine", reproduction.published->machine},
          {"calibrated", reproduction.calibrated},
          {"rows", rows}};
}

}  // namespace

results::PublishedRows published_named(const std::string& name) {
  std::vector<std::string> known;
  for (const results::PublishedFile& file : results::published_files()) {
    if (name == file.name)
      return results::read_published(file.text, fmt::format("{}.csv", file.name));
    known.emplace_back(file.name);
  }
  fail(Fault::invalid, "no published rows of '{}': did you mean '{}'?", name, nearest(name, known));
}

Exit reproduce_verb(const Scenarios& scenarios, const Request& request) {
  std::vector<std::string> names = request.names;
  if (names.empty() || names == std::vector<std::string>{"all"}) {
    names.clear();
    for (const results::PublishedFile& file : results::published_files())
      names.emplace_back(file.name);
  }
  nlohmann::json all = nlohmann::json::array();
  for (const std::string& name : names) {
    const results::PublishedRows published = published_named(name);
    const Reproduction reproduction = reproduce(scenarios, published);
    if (request.json)
      all.push_back(json_of(reproduction));
    else
      print(reproduction);
  }
  if (request.json) fmt::print("{}\n", all.dump(2));
  return Exit::fine;
}

}  // namespace shardlab
