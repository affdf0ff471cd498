#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/core/communicator.h"

namespace shardlab::thread {

enum class Kind : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  exchange,
  barrier
};

/// What one member of a group published about a call that it started. Members are positions.
struct alignas(64) Post {
  Kind kind = Kind::barrier;
  Reduction reduction = Reduction::sum;
  Block in;
  Block out;
  /// Elements per member; all-to-all has both, all-gather and reduce-scatter only the first.
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> received;
  std::vector<Message> sends;
  std::vector<Message> receives;
  /// Whom an exchange receives from, whom it sends to, and both.
  std::vector<int> sources;
  std::vector<int> takers;
  std::vector<int> peers;
};

/// As printed: `all-reduce (sum) of 10 float32`.
[[nodiscard]] std::string to_string(const Post& post);

/// What differs between members that should have started the same collective, with both sizes;
/// empty if nothing. The same text whoever asks.
[[nodiscard]] std::string difference(std::span<const Post> posts, std::span<const int> ranks);

/// What differs between the messages of `me` and what its peers expect; empty if nothing. Both ends
/// of a message find the same text.
[[nodiscard]] std::string difference_in_messages(std::span<const Post> posts,
                                                 std::span<const int> ranks, int me);

}  // namespace shardlab::thread
