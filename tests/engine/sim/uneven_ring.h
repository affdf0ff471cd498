#pragma once

#include <map>
#include <numeric>

#include "engine/core/answers.h"
#include "engine/core/split.h"
#include "tests/engine/sim/hand_made.h"

namespace shardlab::sim {

/// A ring over blocks of given sizes, written down by hand: each turn passes a block on and works
/// on it for own size x its size seconds, and two more before the second block; then all sum.
class UnevenRing {
 public:
  explicit UnevenRing(std::vector<std::int64_t> sizes)
      : sizes_(std::move(sizes)), mesh_({{"domain", ranks()}}) {
    for (int rank = 0; rank < ranks(); ++rank) {
      const Coordinates at = mesh_.coordinates(rank);
      std::size_t c = 0;
      while (c < classes_.size() && !classes_[c]->answers.same_but_for_order(at)) ++c;
      if (c == classes_.size())
        classes_.push_back(std::make_unique<Class>(answers_of(rank), at, trace_of(rank)));
      class_of_rank_.push_back(c);
      orders_.push_back(
          std::make_unique<TurnOrders>(classes_[c]->kinds.orders(classes_[c]->answers, at)));
    }
  }

  [[nodiscard]] int ranks() const { return static_cast<int>(sizes_.size()); }
  [[nodiscard]] const Mesh& mesh() const { return mesh_; }
  [[nodiscard]] std::size_t traced() const { return classes_.size(); }

  /// What a rank does, in full.
  [[nodiscard]] TraceWriter trace_of(int rank) const {
    TraceWriter trace;
    trace.kernel(1);
    for (int turn = 0; turn < ranks(); ++turn) {
      trace.turn(turn);
      const bool last = turn + 1 == ranks();
      trace.start({0}, 1 + block(rank, turn), 1);
      trace.kernel(1 + size(rank) * block(rank, turn));
      trace.kernel(turn == 1 ? 2 : 1 + block(rank, turn - 1) + 2 * block(rank, turn + 1));
      trace.wait({0}, static_cast<std::uint64_t>(turn) + 1);
      if (last) trace.turn(-1);
    }
    const auto sum = static_cast<std::uint64_t>(ranks()) + 1;
    return std::move(trace.start({0}, 3).wait({0}, sum));
  }

  /// One a rank: its class and its order.
  [[nodiscard]] std::vector<RankProgram> programs() const {
    std::vector<RankProgram> programs;
    for (int rank = 0; rank < ranks(); ++rank)
      programs.push_back({&classes_[class_of_rank_[rank]]->folded, orders_[rank].get()});
    return programs;
  }

 private:
  struct Class {
    Class(Answers its, const Coordinates& at, const TraceWriter& trace)
        : answers(std::move(its)),
          kinds(answers, at),
          folded(*trace.get(), kinds.orders(answers, at)) {}
    Answers answers;
    TurnKinds kinds;
    FoldedTrace folded;
  };

  [[nodiscard]] std::int64_t size(int rank) const {
    return sizes_[(rank % ranks() + ranks()) % ranks()];
  }
  [[nodiscard]] std::int64_t block(int rank, int turn) const { return size(rank - turn); }

  [[nodiscard]] Answers answers_of(int rank) const {
    Answers answers;
    const Coordinates at = mesh_.coordinates(rank);
    answers.log(1, at,
                [this](const Coordinates& c) { return static_cast<std::uint64_t>(size(c[0])); });
    (void)answers.log_turns(2, at, ranks(), [this](const Coordinates& c, int turn) {
      const int edge = turn < 2 ? turn + 1 : turn + 1 == ranks() ? 3 : 0;
      std::uint64_t answer = hash_join(hash_start, static_cast<std::uint64_t>(edge));
      for (const int t : {turn - 1, turn, turn + 1})
        answer = hash_join(answer, static_cast<std::uint64_t>(block(c[0], t)));
      return answer;
    });
    return answers;
  }

  std::vector<std::int64_t> sizes_;
  Mesh mesh_;
  std::vector<std::unique_ptr<Class>> classes_;
  std::vector<std::size_t> class_of_rank_;
  std::vector<std::unique_ptr<TurnOrders>> orders_;
};

}  // namespace shardlab::sim
