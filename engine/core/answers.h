#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/core/mesh.h"

namespace shardlab {

/// The log of rank-dependent answers that a program was given: extents of uneven splits, overlaps,
/// sizes of a neighbour's block. Ranks that get equal answers run the same program.
class Answers {
 public:
  /// Asks a question for the rank at `at` and logs it, once per key.
  ///
  /// `ask` must depend on global metadata and coordinates only.
  void log(std::uint64_t key, const Coordinates& at,
           std::function<std::uint64_t(const Coordinates&)> ask);

  /// Logs the turns of a ring, once per key: `ask` gives what turn 0, 1, ... of a rank depends on.
  ///
  /// Turns with equal answers must do the same on all ranks that get equal answers otherwise, so an
  /// answer names the blocks that a turn holds, and its number where the first or last turns
  /// differ. A ring of uneven parts brings every rank the same blocks in an order of its own; told
  /// so, ranks are traced once and not once each.
  ///
  /// Returns the number of the ring, for `Trace::turn`.
  int log_turns(std::uint64_t key, const Coordinates& at, int turns,
                std::function<std::uint64_t(const Coordinates&, int)> ask);

  /// Whether another rank would have been given the same answers.
  [[nodiscard]] bool same_for(const Coordinates& other) const;

  /// The same but for the order of the turns of its rings.
  [[nodiscard]] bool same_but_for_order(const Coordinates& other) const;

  /// The answers to the turns of a ring for a rank, in its order.
  [[nodiscard]] std::vector<std::uint64_t> turns(int ring, const Coordinates& at) const;
  [[nodiscard]] int rings() const { return static_cast<int>(rings_.size()); }

  [[nodiscard]] std::size_t size() const { return questions_.size(); }

 private:
  struct Ring {
    std::function<std::uint64_t(const Coordinates&, int)> ask;
    std::vector<std::uint64_t> answers;
    std::vector<std::uint64_t> sorted;
  };
  struct Question {
    std::function<std::uint64_t(const Coordinates&)> ask;
    std::uint64_t answer = 0;
  };
  std::unordered_set<std::uint64_t> keys_;
  std::vector<Question> questions_;
  std::unordered_map<std::uint64_t, int> ring_of_key_;
  std::vector<Ring> rings_;
};

}  // namespace shardlab
