#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/core/backend.h"
#include "engine/core/layout.h"

namespace shardlab {

/// Dense elements lent to a communicator until the call that uses them is waited for.
struct Block {
  void* data = nullptr;
  std::int64_t count = 0;
  Dtype dtype = Dtype::float32;
  [[nodiscard]] std::int64_t bytes() const { return count * width_of(dtype); }
};

/// One message of a grouped exchange; `peer` is a position in the group.
struct Message {
  int peer = 0;
  Block block;
};

/// A started call. Calls of one communicator are waited for in any order, each once.
struct Pending {
  std::uint64_t number = 0;
};

/// Counts elements per member of a group.
using Counts = std::span<const std::int64_t>;

/// Moves bytes between the ranks of an ordered set of mesh axes.
///
/// A call starts on the comm lane and returns at once; its blocks belong to the communicator until
/// `wait`. All members start the same calls in the same order. Sizes are compared across ranks
/// before data moves: a mismatch is Error{invalid} with both sizes on every member. When a peer
/// fails or leaves, every wait throws Error{external} within the deadline.
class Communicator {
 public:
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

  /// Members of the group and this rank's position among them.
  [[nodiscard]] virtual int size() const = 0;
  [[nodiscard]] virtual int position() const = 0;

  /// Reduces `in` over the group into `out` everywhere; they may be the same memory.
  ///
  /// Cost     Receives (n - mine) + (size - 1) mine elements, mine = this rank's share of n.
  [[nodiscard]] Pending all_reduce(Block in, Block out, Reduction reduction);

  /// Joins the members' blocks in order of position.
  ///
  /// Shapes   in.count = counts[position()], out.count = sum of counts.
  /// Cost     Receives out.count - in.count elements.
  [[nodiscard]] Pending all_gather(Block in, Block out, Counts counts);

  /// Reduces `in` and keeps this member's part.
  ///
  /// Shapes   in.count = sum of counts, out.count = counts[position()].
  /// Cost     Receives (size - 1) out.count elements.
  [[nodiscard]] Pending reduce_scatter(Block in, Block out, Counts counts, Reduction reduction);

  /// Sends a run of `in` to every member and receives one from each, in order of position.
  ///
  /// Cost     Receives out.count elements less those from itself.
  [[nodiscard]] Pending all_to_all(Block in, Counts sent, Block out, Counts received);

  /// Grouped sends and receives: all are posted before any blocks, so no order deadlocks. Messages
  /// between two members match in the order posted.
  [[nodiscard]] Pending exchange(std::span<const Message> sends, std::span<const Message> receives);

  /// Waits until a call has ended: its outputs may be read and its blocks reused.
  void wait(Pending pending);

  /// Waits until every member is here.
  virtual void barrier() = 0;

  /// Ends the waits of all members with this text.
  virtual void abort(const std::string& text) = 0;

  /// Gives up this rank's started calls, when an error unwinds past their waits: returns once no
  /// other member reads or writes its blocks.
  virtual void withdraw() noexcept {}

  /// Bytes received from other members by the calls of this rank, from the formulas above.
  [[nodiscard]] std::int64_t bytes_received() const { return bytes_received_; }

  /// Calls started by this rank.
  [[nodiscard]] std::int64_t calls() const { return calls_; }

 protected:
  virtual Pending do_all_reduce(Block in, Block out, Reduction reduction) = 0;
  virtual Pending do_all_gather(Block in, Block out, Counts counts) = 0;
  virtual Pending do_reduce_scatter(Block in, Block out, Counts counts, Reduction reduction) = 0;
  virtual Pending do_all_to_all(Block in, Counts sent, Block out, Counts received) = 0;
  virtual Pending do_exchange(std::span<const Message> sends,
                              std::span<const Message> receives) = 0;
  virtual void do_wait(Pending pending) = 0;

 private:
  void count(std::int64_t bytes) {
    bytes_received_ += bytes;
    ++calls_;
  }
  std::int64_t bytes_received_ = 0;
  std::int64_t calls_ = 0;
};

/// This rank's share of `count` elements when an all-reduce is cut into one chunk a member.
[[nodiscard]] std::int64_t chunk_begin(std::int64_t count, int size, int position);

/// Bytes a member receives in an all-reduce of `count` elements.
[[nodiscard]] std::int64_t all_reduce_bytes(std::int64_t count, Dtype dtype, int size,
                                            int position);

/// Opens communicators of one rank.
class Network {
 public:
  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  virtual ~Network() = default;
  [[nodiscard]] virtual const char* name() const = 0;

  /// The communicator of this rank's group along `axes`; every member asks in the same order.
  [[nodiscard]] virtual std::unique_ptr<Communicator> open(const Mesh& mesh, const AxisList& axes,
                                                           const Coordinates& at) = 0;

  /// Tells all ranks of the launch that this one failed.
  virtual void abort(const std::string& text) = 0;
};

}  // namespace shardlab
