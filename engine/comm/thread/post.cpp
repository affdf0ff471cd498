#include "engine/comm/thread/post.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace shardlab::thread {
namespace {

bool same(const Post& a, const Post& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Kind::all_reduce:
      return a.in.count == b.in.count && a.in.dtype == b.in.dtype && a.reduction == b.reduction;
    case Kind::reduce_scatter:
      return a.counts == b.counts && a.in.dtype == b.in.dtype && a.reduction == b.reduction;
    case Kind::all_gather:
      return a.counts == b.counts && a.in.dtype == b.in.dtype;
    case Kind::all_to_all:
      return a.in.dtype == b.in.dtype;
    case Kind::exchange:
    case Kind::barrier:
      break;
  }
  return true;
}

std::string difference_in_messages(std::span<const Post> posts, std::span<const int> ranks,
                                   int from, int to) {
  const auto& sends = posts[from].sends;
  const auto& receives = posts[to].receives;
  const auto to_receiver = [&](const Message& message) { return message.peer == to; };
  const auto from_sender = [&](const Message& message) { return message.peer == from; };
  const auto sent = std::count_if(sends.begin(), sends.end(), to_receiver);
  const auto expected = std::count_if(receives.begin(), receives.end(), from_sender);
  if (sent != expected)
    return fmt::format("rank {} sends {} messages to rank {}, which expects {}", ranks[from], sent,
                       ranks[to], expected);
  auto send = sends.begin();
  auto receive = receives.begin();
  for (auto i = sent; i > 0; --i, ++send, ++receive) {
    send = std::find_if(send, sends.end(), to_receiver);
    receive = std::find_if(receive, receives.end(), from_sender);
    const Block& given = send->block;
    const Block& taken = receive->block;
    if (given.count != taken.count || given.dtype != taken.dtype)
      return fmt::format("rank {} sends {} {} to rank {}, which expects {} {}", ranks[from],
                         given.count, name_of(given.dtype), ranks[to], taken.count,
                         name_of(taken.dtype));
  }
  return {};
}

std::string difference_in_kind(const Post& a, int rank_a, const Post& b, int rank_b) {
  return fmt::format("rank {} started {}, rank {} started {}", rank_a, to_string(a), rank_b,
                     to_string(b));
}

}  // namespace

std::string to_string(const Post& post) {
  const char* dtype = name_of(post.in.dtype);
  switch (post.kind) {
    case Kind::all_reduce:
      return fmt::format("all-reduce ({}) of {} {}", name_of(post.reduction), post.in.count, dtype);
    case Kind::all_gather:
      return fmt::format("all-gather of {} {}", fmt::join(post.counts, ","), dtype);
    case Kind::reduce_scatter:
      return fmt::format("reduce-scatter ({}) of {} {}", name_of(post.reduction),
                         fmt::join(post.counts, ","), dtype);
    case Kind::all_to_all:
      return fmt::format("all-to-all of {} {}", fmt::join(post.counts, ","), dtype);
    case Kind::exchange:
      return fmt::format("exchange of {} sends and {} receives", post.sends.size(),
                         post.receives.size());
    case Kind::barrier:
      break;
  }
  return "barrier";
}

std::string difference(std::span<const Post> posts, std::span<const int> ranks) {
  const int size = static_cast<int>(posts.size());
  for (int p = 1; p < size; ++p)
    if (!same(posts[0], posts[p]))
      return difference_in_kind(posts[0], ranks[0], posts[p], ranks[p]);
  if (posts[0].kind != Kind::all_to_all) return {};
  for (int from = 0; from < size; ++from)
    for (int to = 0; to < size; ++to)
      if (posts[from].counts[to] != posts[to].received[from])
        return fmt::format("all-to-all: rank {} sends {} {} to rank {}, which expects {}",
                           ranks[from], posts[from].counts[to], name_of(posts[from].in.dtype),
                           ranks[to], posts[to].received[from]);
  return {};
}

std::string difference_in_messages(std::span<const Post> posts, std::span<const int> ranks,
                                   int me) {
  const auto compare = [&](int peer) -> std::string {
    const int low = std::min(me, peer);
    const int high = std::max(me, peer);
    if (posts[peer].kind != Kind::exchange)
      return difference_in_kind(posts[low], ranks[low], posts[high], ranks[high]);
    std::string text = difference_in_messages(posts, ranks, low, high);
    return text.empty() ? difference_in_messages(posts, ranks, high, low) : text;
  };
  for (const int peer : posts[me].peers)
    if (std::string text = compare(peer); !text.empty()) return text;
  return {};
}

}  // namespace shardlab::thread
