#include "tools/compared_log_json.h"

#include <nlohmann/json.hpp>

namespace shardlab {

nlohmann::json json_of(const sim::ComparedLog& log) {
  nlohmann::json rows = nlohmann::json::array();
  for (const sim::ComparedRow& row : log.rows)
    rows.push_back({{"bytes", row.bytes},
                    {"measured_seconds", row.measured},
                    {"predicted_seconds", row.predicted},
                    {"corrected_seconds", row.corrected},
                    {"others", row.others}});
  return {{"log", log.name},          {"collective", log.collective},
          {"ranks", log.group.ranks}, {"domains", log.group.domains},
          {"fabric", log.fabric},     {"rows", rows}};
}

}  // namespace shardlab
