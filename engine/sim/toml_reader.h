#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/sim/machine.h"
#include "engine/sim/toml_value.h"
#include "engine/sim/unit.h"

namespace shardlab::sim {

/// Typed entries of one TOML file. `what` says in errors which entry is meant.
///
/// Errors   Error{invalid} with file and line: what was expected, what was found, and where a word
/// is
///          unknown the nearest known one.
class TomlReader {
 public:
  /// SI numbers of machines lie in here, zero apart; time and rate over size then stay finite.
  static constexpr double smallest = 1e-12;
  static constexpr double largest = 1e24;

  /// `file` as errors print it.
  explicit TomlReader(std::string file) : file_(std::move(file)) {}

  [[noreturn]] void fault(const TomlValue& entry, const std::string& text) const;

  /// A table that has no other keys than these, which spaces separate.
  [[nodiscard]] const TomlValue& table_of(const TomlValue& entry, const std::string& what,
                                          std::string_view keys) const;
  [[nodiscard]] const TomlValue& at(const TomlValue& table, const std::string& what,
                                    std::string_view key) const;

  /// A text that is not empty, for word_among one of `known`, which spaces separate.
  [[nodiscard]] std::string word(const TomlValue& entry, const std::string& what) const;
  [[nodiscard]] std::string word_among(const TomlValue& entry, const std::string& what,
                                       std::string_view known) const;
  [[noreturn]] void unknown(const TomlValue& entry, const std::string& what, std::string_view word,
                            const std::vector<std::string>& known) const;

  [[nodiscard]] double number(const TomlValue& entry, const std::string& what) const;
  [[nodiscard]] double in_range(const TomlValue& entry, const std::string& what,
                                double value) const;

  /// A whole number from 1 to a million.
  [[nodiscard]] int whole(const TomlValue& entry, const std::string& what) const;

  [[nodiscard]] const Unit& unit(const TomlValue& entry, const std::string& what) const;
  [[nodiscard]] const Unit& unit(const TomlValue& entry, const std::string& what,
                                 Dimension dimension) const;

  /// The two entries of an array of two.
  [[nodiscard]] std::pair<const TomlValue*, const TomlValue*> both(const TomlValue& entry,
                                                                   const std::string& what) const;

  /// Pairs of size and value with sizes rising, each times its factor.
  [[nodiscard]] Points points(const TomlValue& entry, const std::string& what, double size_factor,
                              double value_factor) const;

 private:
  std::string file_;
};

}  // namespace shardlab::sim
