#pragma once

#include <memory>
#include <vector>

#include "engine/core/scenario.h"
#include "engine/launch/launch.h"
#include "engine/sim/folded_trace.h"
#include "tools/measure.h"

namespace shardlab {

/// The traces of all ranks of a mesh, equal ones once.
///
/// Ranks of a class do the same steps, but go through the turns of rings over uneven parts in an
/// order of their own; ranks of a program do the same steps in the same order.
struct TracedRanks {
  /// All-reduces of one size; ranks may have other shares of them.
  struct Sums {
    AxisList axes;
    Dtype dtype = Dtype::float32;
    std::int64_t elements = 0;
    std::int64_t calls = 0;
  };

  std::vector<RankMeasure> classes;      ///< Their traces hold names only: steps are folded.
  std::vector<sim::FoldedTrace> folded;  ///< Of each class.
  std::vector<std::vector<Sums>> sums;   ///< Of each class.
  std::vector<int> of_rank;              ///< The class of each rank.
  std::vector<int> first_rank;           ///< The rank that stands for a class.
  std::vector<sim::TurnOrders> orders;   ///< Of each program.
  std::vector<int> class_of_program;
  std::vector<int> program_of_rank;
  std::int64_t parameters = 0;
  std::vector<std::string> notes;
  std::vector<std::shared_ptr<LayoutTable>> tables;  ///< Traces and answers point into them.

  [[nodiscard]] std::vector<sim::RankProgram> programs() const;

  /// Bytes that any rank receives.
  [[nodiscard]] std::int64_t bytes_received(const Mesh& mesh, int rank) const;
};

/// Runs the first steps of a scenario without data, rank by rank; a rank that would be given the
/// answers of one before it, but for the order of the turns of its rings, joins its class and is
/// not run.
///
/// Cost     One traced step a class, about 1.5 us an op; one comparison of answers a rank and
/// class;
///          memory for one trace and, folded, for each class.
/// Errors   Error{unsupported} once more than `most_steps` steps have been traced.
[[nodiscard]] TracedRanks trace_ranks(const Scenario& scenario, const Params& params,
                                      const Mesh& mesh, std::size_t most_steps = 10'000'000);

}  // namespace shardlab
