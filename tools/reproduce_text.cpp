#include "tools/reproduce_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

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

/// Whether some row has a number of this kind.
template <typename Has>
bool any_row(const Reproduction& reproduction, const Has& has) {
  return std::any_of(reproduction.rows.begin(), reproduction.rows.end(), has);
}

void print_judged(const Reproduction& reproduction, const MeasuredRows& measured) {
  if (reproduction.rows.empty()) return;
  const bool memory =
      any_row(reproduction, [](const Reproduced& each) { return each.row->peak_gib.has_value(); });
  const bool runs = any_row(
      reproduction, [&](const Reproduced& each) { return measured.of(*each.row) != nullptr; });
  std::vector<std::string> header{"mode", "gpus", "size", "published"};
  if (runs) header.emplace_back("measured");
  header.insert(header.end(), {"predicted", "error", "T1/N + cN", "use"});
  if (memory) header.insert(header.end(), {"GiB", "predicted", "error"});
  Table table(header);
  for (const Reproduced& each : reproduction.rows) {
    const PublishedRow& row = *each.row;
    std::vector<std::string> cells{row.train ? "training" : "inference", std::to_string(row.gpus),
                                   parameters_of(row),
                                   row.seconds ? show_seconds(*row.seconds) : "-"};
    if (runs) {
      const MeasuredRow* run = measured.of(row);
      cells.push_back(run != nullptr ? show_seconds(run->seconds) : "-");
    }
    cells.insert(cells.end(),
                 {"~" + show_seconds(each.prediction.simulated.seconds), percent(each.error()),
                  percent(each.baseline_error()), name_of(row.use)});
    if (memory) {
      cells.push_back(row.peak_gib ? fmt::format("{:.1f}", *row.peak_gib) : "-");
      cells.push_back(fmt::format("~{:.2f}", each.prediction.memory.allocated / 0x1p30));
      cells.push_back(percent(each.memory_error()));
    }
    table.row(std::move(cells));
  }
  fmt::print("{}", table.text());
  for (const std::string& note : measured.notes()) fmt::print("measured: {}\n", note);
  fmt::print("\n");
}

void print_sums(const Reproduction& reproduction) {
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
  if (!sums.empty()) fmt::print("{}\n", sums.text());
}

void print_crossings(const Reproduction& reproduction) {
  std::set<std::pair<bool, int>> seen;
  Table table({"faster than one GPU", "gpus", "published from", "predicted from", "octaves"});
  for (const Reproduced& each : reproduction.rows) {
    if (!seen.emplace(each.row->train, each.row->gpus).second) continue;
    const auto published = crossing(reproduction, each.row->train, each.row->gpus, false);
    const auto predicted = crossing(reproduction, each.row->train, each.row->gpus, true);
    if (published && predicted)
      table.row({each.row->train ? "training" : "inference", std::to_string(each.row->gpus),
                 fmt::format("{:.0f}", *published), fmt::format("~{:.0f}", *predicted),
                 fmt::format("{:+.2f}", std::log2(*predicted / *published))});
  }
  if (!table.empty()) fmt::print("{}\n", table.text());
}

void print_shown(const Reproduction& reproduction) {
  if (reproduction.shown.empty()) return;
  fmt::print("rows that are shown, not judged: hardware or dtype are not known; uncalibrated\n");
  Table table({"mode", "gpus", "size", "published", "machine", "dtype", "predicted", "one GPU"});
  for (const Shown& each : reproduction.shown) {
    const PublishedRow& row = *each.row;
    const bool ratio = row.speedup.has_value();
    table.row(
        {row.train ? "training" : "inference", std::to_string(row.gpus), parameters_of(row),
         ratio         ? fmt::format("{}x", *row.speedup)
         : row.seconds ? show_seconds(*row.seconds)
                       : "-",
         each.machine, each.dtype,
         ratio ? fmt::format("~{:.1f}x", each.one_rank_seconds / each.seconds)
               : "~" + show_seconds(each.seconds),
         "~" + show_seconds(each.one_rank_seconds) + (each.one_rank_fits ? "" : ", does not fit")});
  }
  fmt::print("{}\n", table.text());
}

}  // namespace

void print(const Reproduction& reproduction, const MeasuredRows& measured) {
  const results::PublishedRows& published = *reproduction.published;
  fmt::print("{}: {}\n  source: {}\n", published.name, published.title, published.source);
  if (!published.hardware.empty()) fmt::print("  hardware: {}\n", published.hardware);
  if (!reproduction.rows.empty())
    fmt::print("  predicted as {}, {}, software {}\n", published.machine, published.dtype,
               published.profile);
  for (const std::string& line : reproduction.calibrated) fmt::print("  calibrated, {}\n", line);
  fmt::print("\n");
  print_judged(reproduction, measured);
  print_sums(reproduction);
  print_crossings(reproduction);
  print_shown(reproduction);
  for (const std::string& line : published.waiting) fmt::print("waiting: {}\n", line);
  if (!published.waiting.empty()) fmt::print("\n");
}

nlohmann::json json_of(const Reproduction& reproduction, const MeasuredRows& measured) {
  const auto or_null = [](const std::optional<double>& value) {
    return value ? nlohmann::json(*value) : nlohmann::json();
  };
  nlohmann::json rows = nlohmann::json::array();
  for (const Reproduced& each : reproduction.rows) {
    const MeasuredRow* run = measured.of(*each.row);
    rows.push_back({{"train", each.row->train},
                    {"gpus", each.row->gpus},
                    {"parameters", each.row->parameters},
                    {"use", name_of(each.row->use)},
                    {"published_seconds", or_null(each.row->seconds)},
                    {"measured_seconds", run != nullptr ? nlohmann::json(run->seconds) : nullptr},
                    {"predicted_seconds", each.prediction.simulated.seconds},
                    {"baseline_seconds", or_null(each.baseline_seconds)},
                    {"published_gib", or_null(each.row->peak_gib)},
                    {"predicted_gib", each.prediction.memory.allocated / 0x1p30}});
  }
  nlohmann::json shown = nlohmann::json::array();
  for (const Shown& each : reproduction.shown)
    shown.push_back({{"train", each.row->train},
                     {"gpus", each.row->gpus},
                     {"parameters", each.row->parameters},
                     {"machine", each.machine},
                     {"dtype", each.dtype},
                     {"published_seconds", or_null(each.row->seconds)},
                     {"published_speedup", or_null(each.row->speedup)},
                     {"predicted_seconds", each.seconds},
                     {"predicted_one_gpu_seconds", each.one_rank_seconds}});
  return {{"name", reproduction.published->name},
          {"machine", reproduction.published->machine},
          {"calibrated", reproduction.calibrated},
          {"rows", rows},
          {"shown", shown},
          {"waiting", reproduction.published->waiting},
          {"measured_on", measured.notes()}};
}

}  // namespace shardlab
