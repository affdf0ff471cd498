#pragma once

#include <cstdint>
#include <functional>
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

  /// Whether another rank would have been given the same answers.
  [[nodiscard]] bool same_for(const Coordinates& other) const;

  [[nodiscard]] std::size_t size() const { return questions_.size(); }

 private:
  struct Question {
    std::function<std::uint64_t(const Coordinates&)> ask;
    std::uint64_t answer = 0;
  };
  std::unordered_set<std::uint64_t> keys_;
  std::vector<Question> questions_;
};

}  // namespace shardlab
