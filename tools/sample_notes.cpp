#include "tools/sample_notes.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/core/check.h"
#include "results/sample_shape.h"
#include "tools/table.h"

namespace shardlab {

std::string sample_notes(const results::Reader& reader, const results::Curve& curve) {
  std::string notes;
  if (!results::is_measured(curve.series)) return notes;
  const std::string seconds = results::step_seconds().name;
  for (const results::CurveRow& row : curve.rows) {
    std::string shape = results::to_text(
        results::shape_of(results::iteration_values(reader, row.run, seconds)), show_seconds);
    while (!shape.empty()) {
      const std::size_t end = std::min(shape.find("; "), shape.size());
      notes += fmt::format("  {}: {}\n", row.mesh, shape.substr(0, end));
      shape.erase(0, end + 2);
    }
    for (const std::string& doubt : doubts_in(results::state_of(reader, row.run)))
      notes += fmt::format("  {}: {}\n", row.mesh, doubt);
  }
  return notes;
}

std::vector<std::string> doubts_in(const std::string& state) {
  const nlohmann::json json = nlohmann::json::parse(state);
  std::vector<std::string> doubts;
  const auto found = json.find("doubts");
  if (found == json.end() || !found->is_array()) return doubts;
  for (const nlohmann::json& doubt : *found)
    if (doubt.is_string()) doubts.push_back(doubt.get<std::string>());
  return doubts;
}

}  // namespace shardlab
