#pragma once

#include <memory>
#include <vector>

#include "engine/core/scenario.h"
#include "engine/launch/launch.h"
#include "tools/measure.h"

namespace shardlab {

/// The traces of all ranks of a mesh, equal ones once.
struct TracedRanks {
  std::vector<RankMeasure> classes;
  std::vector<int> of_rank;     ///< The class of each rank.
  std::vector<int> first_rank;  ///< The rank that stands for a class.
  std::int64_t parameters = 0;
  std::vector<std::string> notes;
  std::vector<std::shared_ptr<LayoutTable>> tables;  ///< Traces and answers point into them.

  [[nodiscard]] std::vector<const Trace*> traces() const;

  /// Bytes that any rank receives: ranks of a class may have other shares of an all-reduce.
  [[nodiscard]] std::int64_t bytes_received(const Mesh& mesh, int rank) const;
};

/// Runs the first steps of a scenario without data, rank by rank; a rank that would be given the
/// answers of one before it joins its class and is not run.
///
/// Cost     One traced step a class; one comparison of answers a rank and class.
/// Errors   Error{unsupported} once the classes have more than `most_steps` steps together: a long
///          ring of uneven parts has as many classes as ranks.
[[nodiscard]] TracedRanks trace_ranks(const Scenario& scenario, const Params& params,
                                      const Mesh& mesh, std::size_t most_steps = 10'000'000);

}  // namespace shardlab
