#include "results/turns.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/core/check.h"
#include "results/statistics.h"

namespace shardlab::results {
namespace {

/// The median of each turn; empty where these values are not those of the turns.
std::vector<double> medians_of(std::span<const double> values, const Turns& turns) {
  std::vector<double> medians;
  std::size_t at = 0;
  for (const std::int64_t length : turns.lengths) {
    const auto count = static_cast<std::size_t>(length);
    if (length < 1 || count > values.size() - at) return {};
    medians.push_back(median(values.subspan(at, count)));
    at += count;
  }
  return at == values.size() ? medians : std::vector<double>{};
}

}  // namespace

std::optional<Turns> turns_of(const std::string& state) {
  const nlohmann::json json = nlohmann::json::parse(state, nullptr, false);
  if (!json.is_object()) return {};
  const auto pair = json.find("pair");
  if (pair == json.end() || !pair->is_string()) return {};
  Turns turns{.pair = pair->get<std::string>()};
  if (const auto lengths = json.find("turns"); lengths != json.end() && lengths->is_array())
    for (const nlohmann::json& length : *lengths)
      turns.lengths.push_back(length.is_number_integer() ? length.get<std::int64_t>() : 0);
  return turns;
}

std::string with_turns(const std::string& state, const Turns& turns) {
  nlohmann::json json = nlohmann::json::parse(state);
  json["pair"] = turns.pair;
  if (!turns.lengths.empty()) json["turns"] = turns.lengths;
  return json.dump();
}

double turn_ratio(std::span<const double> base, const Turns& base_turns,
                  std::span<const double> next, const Turns& next_turns) {
  for (const auto& side : {base, next})
    for (const double value : side)
      check(value > 0 && std::isfinite(value), "a ratio of {}; expected positive values", value);
  const std::vector<double> bases = medians_of(base, base_turns);
  const std::vector<double> nexts = medians_of(next, next_turns);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(bases.size(), nexts.size()); ++i)
    ratios.push_back(nexts[i] / bases[i]);
  return ratios.empty() ? median(next) / median(base) : median(ratios);
}

}  // namespace shardlab::results
