#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shardlab::sim {

/// A value of a TOML file and the line where it stands.
struct TomlValue {
  enum class Kind : std::uint8_t { table, array, text, number, truth, moment } kind = Kind::table;
  int line = 0;
  std::string key;               ///< In the table around it.
  std::string text;              ///< Of a text.
  double number = 0;             ///< Of a number.
  std::vector<TomlValue> items;  ///< Of an array in order, of a table by key.

  /// The entry of a table, or null.
  [[nodiscard]] const TomlValue* find(std::string_view name) const;
};

/// What a value is, for people.
[[nodiscard]] const char* name_of(TomlValue::Kind kind);

/// Reads a TOML text as a table.
///
/// Errors   Error{invalid} with `file` and the line.
[[nodiscard]] TomlValue parse_toml(std::string_view text, const std::string& file);

}  // namespace shardlab::sim
