#include "results/comparison_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace shardlab::results {
namespace {

using nlohmann::json;

json number(double value) { return std::isfinite(value) ? json(value) : json(); }

json number(const std::optional<double>& value) { return value ? number(*value) : json(); }

json interval_json(const std::optional<Interval>& interval) {
  if (!interval) return nullptr;
  return {{"low", number(interval->low)}, {"high", number(interval->high)}};
}

json evidence_json(const std::optional<Evidence>& evidence) {
  if (!evidence) return nullptr;
  return {{"runs", evidence->runs},
          {"commit", evidence->commit},
          {"samples", evidence->samples},
          {"median", number(evidence->median)},
          {"interval", interval_json(evidence->interval)}};
}

json series_json(const SeriesKey& series) {
  json parameters = json::parse(series.parameters, nullptr, false);
  if (parameters.is_discarded()) parameters = series.parameters;
  return {{"scenario", series.scenario}, {"parameters", std::move(parameters)},
          {"dtype", series.dtype},       {"train", series.train},
          {"mesh", series.mesh},         {"execution", name_of(series.execution)},
          {"machine", series.machine},   {"profile", series.profile}};
}

json finding_json(const Finding& finding) {
  return {{"subject", name_of(finding.subject)},
          {"series", series_json(finding.series)},
          {"metric", finding.metric.name},
          {"unit", finding.metric.unit},
          {"exact", finding.metric.exact},
          {"verdict", name_of(finding.verdict)},
          {"reason", finding.reason},
          {"base", evidence_json(finding.base)},
          {"new", evidence_json(finding.next)},
          {"ratio", number(finding.ratio)},
          {"ratio_interval", interval_json(finding.ratio_interval)},
          {"p", number(finding.p)},
          {"detectable", number(finding.detectable)},
          {"differing", finding.differing},
          {"causes", finding.causes}};
}

}  // namespace

std::string to_json(const Comparison& comparison) {
  const ComparisonOptions& options = comparison.options;
  json all{{"base", comparison.base},
           {"new", comparison.next},
           {"options",
            {{"floor", options.floor},
             {"least_seconds", options.least_seconds},
             {"apart_floor", options.apart_floor},
             {"iterations", options.iterations},
             {"significance", options.significance},
             {"allow", options.allowed},
             {"strict", options.strict},
             {"committed", options.committed},
             {"seed", options.seed}}},
           {"notes", comparison.notes},
           {"findings", json::array()}};
  for (const Verdict verdict :
       {Verdict::same, Verdict::better, Verdict::worse, Verdict::undecided, Verdict::not_comparable,
        Verdict::not_enough, Verdict::added, Verdict::vanished})
    all["counts"][name_of(verdict)] = comparison.count(verdict);
  for (const Finding& finding : comparison.findings)
    all["findings"].push_back(finding_json(finding));
  return all.dump(2, ' ', false, json::error_handler_t::replace);
}

}  // namespace shardlab::results
