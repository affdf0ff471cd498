#include <nlohmann/json.hpp>

#include "tools/exact_compare.h"

namespace shardlab {
namespace {

using nlohmann::json;

json value_of(const std::optional<results::Evidence>& evidence) {
  if (!evidence) return nullptr;
  return static_cast<std::int64_t>(evidence->median);
}

json json_of(const results::Finding& finding) {
  const results::SeriesKey& series = finding.series;
  return {{"series",
           {{"scenario", series.scenario},
            {"train", series.train},
            {"mesh", series.mesh},
            {"parameters", json::parse(series.parameters)}}},
          {"quantity", finding.metric.name},
          {"unit", finding.metric.unit},
          {"verdict", name_of(finding.verdict)},
          {"committed", value_of(finding.base)},
          {"now", value_of(finding.next)},
          {"reason", finding.reason},
          {"causes", finding.causes}};
}

}  // namespace

json exact_json(const results::Comparison& comparison) {
  json all = json::array();
  for (const results::Finding& finding : comparison.findings) all.push_back(json_of(finding));
  return all;
}

}  // namespace shardlab
