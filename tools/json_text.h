#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace shardlab {

/// JSON as text, whatever bytes its strings hold: those that are no UTF-8 are replaced.
template <class Json>
[[nodiscard]] std::string json_text(const Json& json, int indent = 2) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace shardlab
