#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace shardlab::results {

/// What the state of a run says of another run that was measured beside it.
struct Turns {
  std::string pair = {};                   ///< Both runs name it, and no others.
  std::vector<std::int64_t> lengths = {};  ///< Timed iterations of each turn; none: one ran after
                                           ///< the other.
};

/// The turns in a state, as `with_turns` writes them; nothing where a run has no other.
[[nodiscard]] std::optional<Turns> turns_of(const std::string& state);

/// A state of a run together with its turns.
[[nodiscard]] std::string with_turns(const std::string& state, const Turns& turns);

/// How much `next` is of `base`: the middle one of the ratios of turns that followed each other,
/// each by the median of its values; of the medians of all values where they took no turns.
///
/// Errors   invalid: a value that is not positive.
[[nodiscard]] double turn_ratio(std::span<const double> base, const Turns& base_turns,
                                std::span<const double> next, const Turns& next_turns);

}  // namespace shardlab::results
