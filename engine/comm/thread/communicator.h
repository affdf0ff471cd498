#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/comm/thread/crew.h"
#include "engine/comm/thread/group.h"
#include "engine/core/communicator.h"

namespace shardlab {

/// One rank's end of a group of rank threads. Starting publishes blocks, waiting moves data: this
/// rank reads what others lent, and while it is held up does its part of its other pending calls,
/// so that ranks may wait in different orders.
///
/// Used by one thread. Destroyed, or left by an error, with calls pending, it first makes sure that
/// no other rank uses their blocks any more: destroy it before the memory that it was lent.
class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(thread::Crew& crew, thread::Group& group, int position);
  ~ThreadCommunicator() override;

  [[nodiscard]] int size() const override { return group_.size(); }
  [[nodiscard]] int position() const override { return position_; }
  void barrier() override;
  void abort(const std::string& text) override;
  void withdraw() noexcept override;

  /// Bytes really copied or read from other members' memory, or written by them into this rank's.
  [[nodiscard]] std::int64_t copied_bytes() const;

 protected:
  Pending do_all_reduce(Block in, Block out, Reduction reduction) override;
  Pending do_all_gather(Block in, Block out, Counts counts) override;
  Pending do_reduce_scatter(Block in, Block out, Counts counts, Reduction reduction) override;
  Pending do_all_to_all(Block in, Counts sent, Block out, Counts received) override;
  Pending do_exchange(std::span<const Message> sends, std::span<const Message> receives) override;
  void do_wait(Pending pending) override;

 private:
  /// Published; part done and others may still use the blocks; over.
  enum class Stage : std::uint8_t { published, moved, over };

  struct Started {
    std::uint64_t number = 0;
    Stage stage = Stage::published;
    /// Members before this one need not be looked at again in this stage.
    std::size_t seen = 0;
    /// What the members did not agree on.
    std::string difference;
  };

  /// Whose posts must match, whose memory this rank uses, and who uses the memory of this rank.
  struct Roles {
    std::span<const int> peers;
    std::span<const int> lenders;
    std::span<const int> takers;
  };

  [[nodiscard]] int rank() const { return group_.ranks()[position_]; }
  [[nodiscard]] thread::Post& open_post();
  Pending publish();
  void make_room(std::uint64_t old_call);
  [[nodiscard]] Roles roles(const thread::Post& post) const;

  /// Takes a call as far as it gets; the position that holds it up, or -1 if it is over.
  int advance(Started& call);
  bool advance_all();
  void check_agreed(const Started& call) const;

  /// Does this rank's part of a call; the position of a lender that took its memory back, or -1.
  int do_part(const Started& call, std::span<const int> lenders);

  template <typename HeldBy>
  void hold_until_free(std::uint64_t number, HeldBy held_by);
  [[nodiscard]] bool hopeless(int position) const;
  [[noreturn]] void give_up(std::uint64_t number, int position, bool in_time) const;
  void ring_others();

  thread::Crew& crew_;
  thread::Group& group_;
  int position_;
  std::uint64_t last_ = 0;
  std::vector<Started> started_;
  std::int64_t read_bytes_ = 0;
};

}  // namespace shardlab
