#include <nlohmann/json.hpp>

#include "tools/history_text.h"
#include "tools/json_text.h"

namespace shardlab {
namespace {

using Json = nlohmann::ordered_json;
using results::HistoryChart;
using results::HistoryPoint;
using results::Shift;

Json object_of(const results::Fields& fields) {
  Json json = Json::object();
  for (const auto& [name, value] : fields) json[name] = value;
  return json;
}

Json json_of(const HistoryPoint& point) {
  Json runs = Json::array();
  for (const results::RunId run : point.runs) runs.push_back(run.value);
  return {{"commit", point.commit},
          {"created", point.created},
          {"value", point.value},
          {"samples", point.samples},
          {"runs", std::move(runs)}};
}

Json json_of(const HistoryChart& chart, const Shift& shift) {
  Json json{{"last_good", chart.points[shift.at.first - 1].commit},
            {"first_bad", chart.points[shift.at.last].commit},
            {"commit", chart.points[shift.at.index].commit},
            {"before", shift.before},
            {"after", shift.after},
            {"ratio", nullptr},
            {"interval", nullptr},
            {"state", results::name_of(shift.state)},
            {"note", shift.note}};
  if (shift.ratio) json["ratio"] = *shift.ratio;
  if (shift.interval) json["interval"] = {shift.interval->low, shift.interval->high};
  return json;
}

Json json_of(const HistoryChart& chart) {
  Json points = Json::array();
  for (const HistoryPoint& point : chart.points) points.push_back(json_of(point));
  Json shifts = Json::array();
  for (const Shift& shift : chart.shifts) shifts.push_back(json_of(chart, shift));
  Json json{{"series", object_of(fields_of(chart.series))},
            {"environment", nullptr},
            {"metric", chart.metric.name},
            {"unit", chart.metric.unit},
            {"exact", chart.is_exact()},
            {"verdict", results::name_of(chart.verdict)},
            {"points", std::move(points)},
            {"shifts", std::move(shifts)},
            {"notes", chart.notes}};
  if (chart.environment != results::EnvironmentKey{})
    json["environment"] = object_of(fields_of(chart.environment));
  return json;
}

}  // namespace

std::string history_json(const std::vector<HistoryChart>& charts) {
  Json all = Json::array();
  for (const HistoryChart& chart : charts) all.push_back(json_of(chart));
  return json_text(Json{{"charts", std::move(all)}});
}

}  // namespace shardlab
