#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "engine/core/trace.h"
#include "engine/sim/prices.h"
#include "engine/sim/time_classes.h"

namespace shardlab::sim {

/// What a wait was for.
struct WaitCause {
  std::size_t step = 0;         ///< Number of the wait in the trace.
  double late_seconds = 0;      ///< Of it: for members that came later than this rank.
  double transfer_seconds = 0;  ///< Of it: for data under way.
};

/// One time class with its times.
struct Timeline {
  int rank = 0;  ///< The lowest of its ranks.
  int members = 1;
  std::vector<Step> steps;  ///< Begin and end set, in program order.
  std::vector<WaitCause> waits;
  double seconds = 0;         ///< When its last step ends.
  double launch_seconds = 0;  ///< The device waited for the host to issue a kernel.
  double slowed_seconds = 0;  ///< Kernels took longer for communication beside them.
};

struct Simulated {
  TimeClasses classes;
  std::vector<Timeline> timelines;  ///< One a time class.
  double seconds = 0;               ///< Of the slowest.
};

/// Differences between ranks that their traces do not show.
struct Stragglers {
  std::map<int, double> slowdown;  ///< Factor on the kernels of single ranks.
  double jitter = 0;               ///< Relative spread of every kernel of every rank; unfolds.
  std::uint64_t seed = 1;

  [[nodiscard]] double slowdown_of(int rank) const;
  [[nodiscard]] double noise(int rank, std::size_t step) const;

  /// Tells apart the ranks that must not be folded; empty if there are none.
  [[nodiscard]] std::vector<int> colours(int ranks) const;
};

/// Gives times to traced steps.
///
/// Host, compute and communicators are lanes; steps of a lane run in order. A kernel begins when it
/// is issued and the compute lane is free: b = max(h, c), then c = b + t. A communication is posted
/// when it is issued, what it reads is computed and its communicator is free, begins when all its
/// members have posted theirs, and takes the longest of the members' prices:
/// e = max over members (post) + t. A wait holds the compute lane until e. With Progress::at_wait
/// the rank moves the data itself: e = max(own wait, posts of the others) + t.
///
/// Cost     Linear in the steps of all classes.
/// Errors   Error{invalid} naming the call that its members never all start.
[[nodiscard]] Simulated simulate(const Placement& placement, std::span<const int> trace_class,
                                 std::span<const Trace* const> traces, const Prices& prices,
                                 const Stragglers& stragglers = {});

}  // namespace shardlab::sim
