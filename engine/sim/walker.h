#pragma once

#include <vector>

#include "engine/sim/priced_trace.h"
#include "engine/sim/simulate.h"

namespace shardlab::sim {

/// One started call of one class.
struct Call {
  double ready = 0;  ///< Issued, and what it reads is computed.
  const CallPrice* price = nullptr;
  double alone = 0;  ///< Seconds of the price.
  double from = 0;   ///< When its rank expects it to run, with nobody late and wires to itself.
  double to = 0;
  double post = -1;  ///< Ready, and its communicator is free.
  double begin = -1;
  double end = -1;
  double waited_for = -1;  ///< When its rank began to wait.
  std::size_t kept_at = 0;
  int meeting = 0;
  int needs = 0;    ///< Posts of members before it begins.
  int seen_by = 0;  ///< Exchanges that have begun with it as a member's.
  Progress progress = Progress::beside;
  bool waited = false;  ///< Its rank has gone on.

  [[nodiscard]] bool ended() const { return end >= 0; }
};

/// The calls of one class on one communicator, in order and numbered from 0; those that ended are
/// dropped.
class CommLane {
 public:
  std::size_t announced = 0;  ///< Calls before this one are known to those that look at them.
  std::size_t next_post = 0;
  bool busy = false;  ///< A call beside kernels is posted or about to be, and has not ended.
  double free = 0;    ///< When the last such call ended.
  double expected = 0;

  [[nodiscard]] std::size_t issued() const { return gone_ + calls_.size(); }
  [[nodiscard]] std::size_t dropped() const { return gone_ + first_; }
  [[nodiscard]] bool knows(std::size_t call) const { return call >= dropped() && call < issued(); }
  [[nodiscard]] Call& operator[](std::size_t call) { return calls_[call - gone_]; }
  [[nodiscard]] const Call& operator[](std::size_t call) const { return calls_[call - gone_]; }

  Call& append() { return calls_.emplace_back(); }
  void drop_first();

  /// A call that its rank waits for.
  [[nodiscard]] Call& waited(std::size_t call);

  /// Counts a post of this call by a rank that an exchange of this class may wait for.
  int count_post(std::size_t call);

 private:
  std::vector<Call> calls_;
  std::vector<std::uint8_t> posts_;
  std::size_t gone_ = 0;
  std::size_t first_ = 0;
  std::vector<std::pair<std::size_t, Call>> held_;  ///< Dropped, but their rank has yet to wait.
};

/// A time class on its way through its program: its host and compute lanes.
class Walker {
 public:
  Walker(const RankProgram& program, PricedTrace& priced, const std::vector<Meeting>& meetings,
         std::size_t lanes, const Prices& prices, const Stragglers& stragglers, Timeline& timeline);

  /// Runs until a wait whose end is not known.
  void advance();

  [[nodiscard]] bool done() const { return cursor_.done(); }
  [[nodiscard]] const Step& at() const { return priced_.trace().steps()[cursor_.at()]; }

  /// The call that the wait at which this class stands is for.
  [[nodiscard]] int waits_on() const { return priced_[cursor_.at()].lane; }
  [[nodiscard]] std::size_t waits_for() const {
    return lanes_[waits_on()].issued() - 1 - priced_[cursor_.at()].back;
  }

  [[nodiscard]] CommLane& lane(int number) { return lanes_[number]; }
  [[nodiscard]] const Meeting& meeting(int number) const { return meetings_[number]; }

 private:
  void set_times(double begin, double end);
  void issue(double seconds);
  void compute(const PricedTrace::Entry& entry);
  void start(const PricedTrace::Entry& entry);
  [[nodiscard]] bool wait(const PricedTrace::Entry& entry);
  [[nodiscard]] double communicating(double begin, double end) const;

  PricedTrace& priced_;
  const std::vector<Meeting>& meetings_;
  const Stragglers& stragglers_;
  Timeline& timeline_;
  StepCursor cursor_;
  std::vector<CommLane> lanes_;
  double slowdown_;
  double beside_;
  bool host_computes_;
  std::size_t taken_ = 0;  ///< Steps so far.
  double host_ = 0;
  double compute_ = 0;
};

}  // namespace shardlab::sim
