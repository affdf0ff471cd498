#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine/sim/machines.h"
#include "engine/sim/profile.h"
#include "engine/sim/sheet.h"
#include "tools/json_text.h"
#include "tools/machine_text.h"

namespace shardlab {
namespace {

using Json = nlohmann::json;
using sim::Dimension;

Json json_of(const sim::Quantity& each, Dimension dimension) {
  return {{"value", each.value},
          {"unit", sim::si_unit(dimension).name},
          {"low", each.value * (1 - each.half_width)},
          {"high", each.value * (1 + each.half_width)},
          {"source", name_of(each.source)},
          {"from", each.from}};
}

template <typename Each>
Json curve_json(const Each& curve, Dimension size, Dimension value) {
  return {{"unit", {sim::si_unit(size).name, sim::si_unit(value).name}},
          {"points", curve.points},
          {"half_width", curve.half_width},
          {"source", name_of(curve.source)},
          {"from", curve.from}};
}

Json json_of(const sim::Curve& curve) {
  const bool pointwise = curve.family == sim::Family::pointwise;
  Json json = pointwise ? curve_json(curve, Dimension::bytes, Dimension::bytes_per_second)
                        : curve_json(curve, Dimension::flop, Dimension::flop_per_second);
  json["family"] = name_of(curve.family);
  json["op"] = curve.op.empty() ? Json() : Json(curve.op);
  json["dtype"] = pointwise ? Json() : Json(name_of(curve.precision));
  return json;
}

Json json_of(const sim::Machine& machine) {
  Json json{{"name", machine.name},
            {"words", machine.words},
            {"numbers", Json::object()},
            {"curves", Json::array()},
            {"collectives", Json::array()}};
  for (const auto& [path, each] : machine.numbers) {
    const sim::KnownNumber& known = *sim::find_number(path);
    json["numbers"][path] = json_of(each, known.dimension);
    json["numbers"][path]["meaning"] = known.text;
  }
  for (const sim::Curve& curve : machine.curves) json["curves"].push_back(json_of(curve));
  for (const sim::CollectiveCurve& curve : machine.collectives) {
    Json each = curve_json(curve, Dimension::bytes, Dimension::seconds);
    each["collective"] = curve.collective;
    each["ranks"] = curve.ranks;
    each["hosts"] = curve.hosts;
    json["collectives"].push_back(std::move(each));
  }
  return json;
}

}  // namespace

std::string machine_json(const sim::Machine& machine) { return json_text(json_of(machine)); }

std::string machines_json() {
  Json all = Json::array();
  for (const sim::BuiltInMachine& each : sim::built_in_machines())
    all.push_back(json_of(sim::find_machine(each.name)));
  return json_text(all);
}

std::string profiles_json() {
  Json all = Json::array();
  for (const sim::Profile& profile : sim::profiles())
    all.push_back({{"name", profile.name},
                   {"about", profile.about},
                   {"op_issue", json_of(profile.op_issue, Dimension::seconds)},
                   {"sharded_issue", json_of(profile.sharded_issue, Dimension::seconds)},
                   {"call_issue", json_of(profile.call_issue, Dimension::seconds)},
                   {"ring_message", json_of(profile.ring_message, Dimension::seconds)},
                   {"ring_overlaps", profile.ring.overlaps},
                   {"beside", json_of(profile.beside, Dimension::count)},
                   {"keeps_training_state", profile.keeps_training_state},
                   {"attention_blocks", json_of(profile.attention_blocks, Dimension::count)}});
  return json_text(all);
}

void show_machines(const std::vector<std::string>& names, bool json) {
  std::vector<sim::Machine> machines;
  for (const std::string& name : names) machines.push_back(sim::find_machine(name));
  if (json && machines.size() == 1) {
    fmt::print("{}\n", machine_json(machines.front()));
  } else if (json) {
    Json all = Json::array();
    for (const sim::Machine& machine : machines) all.push_back(json_of(machine));
    fmt::print("{}\n", json_text(all));
  } else {
    for (std::size_t i = 0; i < machines.size(); ++i)
      fmt::print("{}{}", i == 0 ? "" : "\n", machine_text(machines[i]));
  }
}

}  // namespace shardlab
