#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/run.h"

namespace shardlab {

/// A time since the first step of a run; whole numbers keep nested slices nested.
using Nanoseconds = std::int64_t;

/// A named range on a thread of a rank.
struct Slice {
  std::string thread;
  std::string name;
  const char* category = "op";  ///< op, scope, communication or wait.
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  const results::Step* step = nullptr;  ///< Of a scope: none.
};

/// Where an arrow leads from and to: places among the slices.
struct Arrow {
  std::size_t from = 0;
  std::size_t to = 0;
};

/// Live bytes from a time on.
struct Level {
  Nanoseconds at = 0;
  std::int64_t bytes = 0;
};

/// What one rank shows.
struct RankSlices {
  std::vector<Slice> slices;
  std::vector<Arrow> arrows;
  std::vector<Level> levels;
};

/// Turns the steps of one rank, in program order, into slices.
///
/// Waits hold the compute lane and lie on its thread. What the compute lane is said to do while it
/// still does the step before, such as a look at memory, the host did ahead of it: it lies there. A
/// wait belongs to the oldest open communication of its lane, op, shape and scope: what is stored
/// tells no more.
///
/// Cost     n log n in the steps.
[[nodiscard]] RankSlices slices_of(const std::vector<const results::Step*>& steps,
                                   const std::vector<const results::Scope*>& scopes,
                                   double zero_seconds);

/// Places of the slices by their begin, an enclosing one before what it encloses.
[[nodiscard]] std::vector<std::size_t> outer_first(const std::vector<Slice>& slices);

/// Gives slices that overlap without nesting a thread of their own, named `compute (2)`.
void part_overlaps(std::vector<Slice>& slices);

}  // namespace shardlab
