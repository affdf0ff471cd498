#include "results/series_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "results/json.h"
#include "results/one_line.h"

namespace shardlab::results {

const char* mark_of(const SeriesKey& series) {
  return series.execution == Execution::predict ? "~" : "";
}

std::string mode_of(const SeriesKey& series) {
  return std::string(series.train ? "training" : "inference") +
         (is_weak(series) ? ", weak scaling" : "");
}

std::string place_of(const SeriesKey& series) {
  switch (series.execution) {
    case Execution::predict:
      return "~" + series.machine;
    case Execution::published:
      return series.machine.empty() ? "published" : "published " + series.machine;
    default:
      return name_of(series.execution);
  }
}

bool is_probe(const SeriesKey& series) { return series.scenario == "probe"; }

std::string title_of(const SeriesKey& series) {
  if (is_probe(series)) return "probe: what kernels and collectives take on this machine";
  std::string what = one_line(series.scenario);
  if (!series.dtype.empty()) what += fmt::format(", {}, {}", series.dtype, mode_of(series));
  const std::string machine =
      series.machine.empty() ? "a machine that is not named" : series.machine;
  switch (series.execution) {
    case Execution::predict:
      return fmt::format("{}, ~predicted on {}, profile {}", what, machine, series.profile);
    case Execution::published:
      return fmt::format("{}, published for {}, profile {}", what, machine, series.profile);
    default:
      return fmt::format("{}, on {}{}", what, name_of(series.execution),
                         series.profile == "shardlab" ? "" : " by " + series.profile);
  }
}

std::map<std::string, std::string> parameter_values(const SeriesKey& series) {
  const nlohmann::json json =
      nlohmann::json::parse(canonical_json(series.parameters, "parameters"));
  std::map<std::string, std::string> values;
  for (const auto& [name, value] : json.items())
    values[name] = value.is_string() ? value.get<std::string>() : value.dump();
  return values;
}

std::string parameters_of(const SeriesKey& series, std::size_t columns) {
  std::string text;
  std::size_t line = 0;
  for (const auto& [name, value] : parameter_values(series)) {
    const std::string each = one_line(fmt::format("{}={}", name, value));
    const bool fits = line + each.size() < columns;
    text += (text.empty() ? "" : fits ? " " : "\n  ") + each;
    line = fits ? line + each.size() + 1 : each.size();
  }
  return text;
}

}  // namespace shardlab::results
