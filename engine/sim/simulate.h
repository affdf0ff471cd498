#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "engine/core/trace.h"
#include "engine/sim/prices.h"
#include "engine/sim/time_classes.h"

namespace shardlab::sim {

/// A step with its times.
struct TimedStep {
  const Step* step = nullptr;  ///< Of the folded trace, which must live on.
  std::uint64_t sequence = 0;  ///< Start and wait: number of the call on its communicator, from 1.
  double begin_seconds = 0;
  double end_seconds = 0;

  /// The step as a rank would have traced it.
  [[nodiscard]] Step whole() const;
};

/// What a wait was for.
struct WaitCause {
  std::size_t step = 0;         ///< Number of the wait in the timeline.
  double late_seconds = 0;      ///< Of it: for members that came later than this rank.
  double transfer_seconds = 0;  ///< Of it: for data under way.
};

/// One time class with its times.
struct Timeline {
  int rank = 0;  ///< The lowest of its ranks.
  int members = 1;
  bool kept = true;              ///< Its steps and waits are here, not only their sums.
  std::vector<TimedStep> steps;  ///< In program order.
  std::vector<WaitCause> waits;
  double seconds = 0;           ///< When its last step ends.
  double launch_seconds = 0;    ///< The device waited for the host to issue a kernel.
  double slowed_seconds = 0;    ///< Kernels took longer for communication beside them.
  double late_seconds = 0;      ///< Of all waits.
  double transfer_seconds = 0;  ///< Of all waits.
  double shared_seconds = 0;    ///< Calls took longer for others on the same wires.
};

struct Simulated {
  TimeClasses classes;
  std::vector<Timeline> timelines;  ///< One a time class.
  double seconds = 0;               ///< Of the slowest.

  /// The slowest of those whose steps are kept.
  [[nodiscard]] const Timeline& slowest() const;
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
/// members have posted theirs, and takes the longest of the members' prices: its latency, and then
/// its transfer, which is stretched while calls of other communicators move bytes over the same
/// wires (WireShares). A wait holds the compute lane until it ends. With Progress::at_wait the rank
/// moves the data itself: e = max(own wait, posts of the others) + t, and shares nothing.
///
/// Steps are kept for one class of every trace and then for more, as long as all together are no
/// more than `most_kept`; sums are there for all.
///
/// Cost     Linear in the steps of all classes, 20 ns a kernel and 0.4 us a call; memory for kept
///          steps, and otherwise for calls under way only.
/// Errors   Error{invalid} naming the call that its members never all start; Error{unsupported}
///          for more than `most_steps` steps of all classes, a quarter of it where wires are
///          shared.
[[nodiscard]] Simulated simulate(const Placement& placement, std::span<const int> trace_class,
                                 std::span<const RankProgram> programs, const Prices& prices,
                                 const Stragglers& stragglers = {},
                                 std::size_t most_kept = 1'000'000,
                                 std::size_t most_steps = 400'000'000);

}  // namespace shardlab::sim
