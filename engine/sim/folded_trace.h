#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "engine/core/answers.h"
#include "engine/core/trace.h"

namespace shardlab::sim {

/// For each ring of a program, what kind each of its turns is.
using TurnOrders = std::vector<std::vector<std::uint32_t>>;

/// The kinds of turns that a traced rank took, numbered as they came.
class TurnKinds {
 public:
  TurnKinds(const Answers& answers, const Coordinates& at);

  /// The orders of a rank for which `answers` are the same but for order.
  [[nodiscard]] TurnOrders orders(const Answers& answers, const Coordinates& at) const;

 private:
  std::vector<std::map<std::uint64_t, std::uint32_t>> rings_;
};

/// A trace in which turns of one kind are kept once for each time that their ring is gone round.
///
/// The rest of a rank is an order of kinds: in a ring over uneven parts every rank does the same
/// turns in an order of its own.
class FoldedTrace {
 public:
  /// A run of steps.
  struct Stretch {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };

  /// Part of a program: one stretch, or one for each kind of turn of a ring.
  struct Part {
    int ring = -1;
    std::vector<Stretch> kinds;
  };

  /// `orders` names the kind of each turn of the rank that was traced; without them rings are
  /// steps like any others.
  ///
  /// Errors   Error{internal} if two turns of one kind differ.
  explicit FoldedTrace(const Trace& trace, const TurnOrders& orders = {});

  /// Each kept step once; the sequence of a wait is how many calls its communicator has started
  /// since the one waited for, that of a start is 0.
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }

  /// Steps that a rank takes.
  [[nodiscard]] std::size_t length() const { return length_; }

 private:
  void keep(std::span<const Step> steps, Stretch& kept);

  std::vector<Step> steps_;
  std::vector<Part> parts_;
  std::size_t length_ = 0;
};

/// The program of one rank.
struct RankProgram {
  const FoldedTrace* trace = nullptr;
  const TurnOrders* orders = nullptr;  ///< May be null for a trace without rings.
};

/// The steps of a program as its rank traced them.
[[nodiscard]] Trace unfolded(const RankProgram& program);

/// Goes through the steps of a program in order.
class StepCursor {
 public:
  explicit StepCursor(const RankProgram& program);

  [[nodiscard]] bool done() const { return at_ == end_; }

  /// Number of the step among those kept.
  [[nodiscard]] std::uint32_t at() const { return at_; }
  void next() {
    if (++at_ == end_) open();
  }

 private:
  void open();

  RankProgram program_;
  std::uint32_t at_ = 0;
  std::uint32_t end_ = 0;
  std::size_t part_ = 0;  ///< The next one.
  std::span<const FoldedTrace::Stretch> kinds_;
  std::span<const std::uint32_t> order_;  ///< Of the turns left.
};

}  // namespace shardlab::sim
