#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/imported.h"

namespace shardlab::results {

/// JSON as programs write it, where every object knows its line.
struct LinedJson {
  nlohmann::json value;
  std::vector<ImportNote> notes;  ///< What had to be put right first.
};

/// Reads JSON, and what is nearly JSON: bare NaN and Infinity (which become null), and numbers as a
/// locale writes them, with a decimal comma and digits in groups.
///
/// Errors   invalid with `name:line`: neither, or nested more than 100 levels deep.
[[nodiscard]] LinedJson read_lined_json(std::string_view text, const std::string& name);

/// Where an object began; 0 of anything else.
[[nodiscard]] int line_of(const nlohmann::json& object);

/// Whether a key of an object is one of the file, and not where the line is kept.
[[nodiscard]] bool is_of_file(const std::string& key);

/// A member of an object; null where it has none or is no object.
[[nodiscard]] const nlohmann::json& member(const nlohmann::json& object, const char* key);

/// A member that is a text; else empty.
[[nodiscard]] std::string text_member(const nlohmann::json& object, const char* key);

/// A member that is a number, or a text that holds one and nothing else; none where it is null,
/// absent or not finite.
[[nodiscard]] std::optional<double> number_member(const nlohmann::json& object, const char* key);

/// A value as text: a number as short as it can be, a text as it is.
[[nodiscard]] std::string plain_text(const nlohmann::json& value);

}  // namespace shardlab::results
