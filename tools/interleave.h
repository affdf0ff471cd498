#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/measure.h"

namespace shardlab {

/// Timed iterations that ran without a pause between them.
struct TimedBlock {
  int order = 0;  ///< Among all blocks of a command.
  int round = 0;  ///< Every measurement has one block a round.
  int first = 0;  ///< Of the timed iterations of its run.
  int iterations = 0;
};

/// The numbers below `count` in an order that a seed and a round decide.
[[nodiscard]] std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed, int round);

/// Adds the iterations of a later block of the same ranks: warm-up stays in front, and values,
/// traces and tables stay those of the first block.
void append_block(Measurement& all, const Measurement& block);

/// A state of a run, as `state_json` writes it, together with the blocks of its iterations.
[[nodiscard]] std::string with_blocks(const std::string& state,
                                      const std::vector<TimedBlock>& blocks, std::uint64_t seed);

/// What the slowest rank took in each timed iteration.
[[nodiscard]] std::vector<double> slowest(const Measurement& measurement);

}  // namespace shardlab
