#pragma once

#include <cstdint>
#include <span>

#include "engine/comm/thread/post.h"

namespace shardlab::thread {

/// Bytes that a member moved itself.
struct Traffic {
  /// Read from the memory of other members.
  std::int64_t read = 0;
  /// Written into the memory of each other member.
  std::int64_t written = 0;
};

/// Does the part of `me` of a call whose posts were found to match: afterwards it no longer needs
/// the memory of others, and its own outputs lack only what others write.
Traffic move(std::span<const Post> posts, int me);

}  // namespace shardlab::thread
