#pragma once

#include <span>
#include <vector>

#include "engine/sim/folded_trace.h"
#include "engine/sim/placement.h"

namespace shardlab::sim {

/// A communicator that a rank of some class uses, and the ranks whose progress its calls wait for.
struct Meeting {
  AxisList axes;
  std::int32_t relative_peer = 0;  ///< 0: a collective of the whole group.
  Place place;
  int party = 0;    ///< Who meets; a collective's number is the same for all of them.
  int members = 0;  ///< Classes of the party.
};

/// Ranks that get equal times: the coarsest partition finer than the trace classes in which all
/// members of a class meet equal places and equal classes.
///
/// Found by colour refinement: a rank's colour is refined by the colours that it meets until the
/// number of colours stands still.
///
/// Cost     Rounds x ranks x distinct communicators; a ring over domains of 8 settles in 4 rounds.
struct TimeClasses {
  std::vector<int> of_rank;
  std::vector<int> representative;             ///< The lowest rank of each class.
  std::vector<int> members;                    ///< How many ranks a class has.
  std::vector<std::vector<Meeting>> meetings;  ///< Of each class.
  std::vector<std::vector<int>> parties;       ///< Time classes that meet.
};

/// `trace_class[rank]` names a program; `colour[rank]`, if given, tells ranks apart further, as
/// jitter or a slow rank does.
[[nodiscard]] TimeClasses time_classes(const Placement& placement, std::span<const int> trace_class,
                                       std::span<const RankProgram> programs,
                                       std::span<const int> colour = {});

}  // namespace shardlab::sim
