#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/sim/unit.h"

namespace shardlab::sim {

/// Which machines must say something.
enum class Need : std::uint8_t { always, gpu, optional };

/// A number that a machine may have.
struct KnownNumber {
  std::string_view path;
  Dimension dimension;
  Need need;
  bool may_be_zero;
  std::string_view text;  ///< One sentence for people.
};

/// A word that a machine may have.
struct KnownWord {
  std::string_view path;
  Need need;
  std::string_view values;  ///< Separated by spaces; empty allows any text.
  std::string_view text;
};

/// Every number and every word that machine files may hold: the vocabulary of all readers.
[[nodiscard]] std::span<const KnownNumber> known_numbers();
[[nodiscard]] std::span<const KnownWord> known_words();

/// Null for an unknown path.
[[nodiscard]] const KnownNumber* find_number(std::string_view path);
[[nodiscard]] const KnownWord* find_word(std::string_view path);

/// The collectives that measured curves may be of, separated by spaces.
[[nodiscard]] std::string_view known_collectives();

/// Whether `word` is one of `all`, which spaces separate.
[[nodiscard]] bool among(std::string_view word, std::string_view all);

}  // namespace shardlab::sim
