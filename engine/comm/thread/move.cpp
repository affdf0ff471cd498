#include "engine/comm/thread/move.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <vector>

#include "engine/comm/thread/reduce.h"

namespace shardlab::thread {
namespace {

std::byte* element(const Block& block, std::int64_t index) {
  return static_cast<std::byte*>(block.data) + index * width_of(block.dtype);
}

std::int64_t total(Counts counts, int members) {
  return std::accumulate(counts.begin(), counts.begin() + members, std::int64_t{0});
}

// Blocks in place are their own source; an empty one may be null.
void copy_bytes(std::byte* to, const std::byte* from, std::int64_t bytes) {
  if (bytes > 0 && to != from) std::memcpy(to, from, bytes);
}

std::vector<const void*> inputs_at(std::span<const Post> posts, std::int64_t begin) {
  std::vector<const void*> inputs;
  inputs.reserve(posts.size());
  for (const Post& post : posts) inputs.push_back(element(post.in, begin));
  return inputs;
}

// Each member reduces one chunk and writes it to all, so that every member gets the same bits and
// no second round is needed. In place is safe: only `me` reads or writes this chunk, anywhere.
Traffic all_reduce(std::span<const Post> posts, int me) {
  const int size = static_cast<int>(posts.size());
  const Block& in = posts[me].in;
  const std::int64_t begin = chunk_begin(in.count, size, me);
  const std::int64_t count = chunk_begin(in.count, size, me + 1) - begin;
  if (count == 0) return {};
  std::vector<void*> outputs;
  outputs.reserve(posts.size());
  for (const Post& post : posts) outputs.push_back(element(post.out, begin));
  reduce(inputs_at(posts, begin), outputs, count, in.dtype, posts[me].reduction);
  const std::int64_t bytes = count * width_of(in.dtype);
  return {.read = (size - 1) * bytes, .written = bytes};
}

Traffic reduce_scatter(std::span<const Post> posts, int me) {
  const Block& out = posts[me].out;
  if (out.count == 0) return {};
  void* const output = out.data;
  reduce(inputs_at(posts, total(posts[me].counts, me)), {&output, 1}, out.count, out.dtype,
         posts[me].reduction);
  return {.read = (static_cast<int>(posts.size()) - 1) * out.bytes()};
}

// Members begin with the one after themselves, so that not all read the same memory at once.
template <typename Source>
Traffic gather(std::span<const Post> posts, int me, Counts counts, Source source) {
  const int size = static_cast<int>(posts.size());
  const Block& out = posts[me].out;
  Traffic traffic;
  for (int step = 1; step <= size; ++step) {
    const int from = (me + step) % size;
    const std::int64_t bytes = counts[from] * width_of(out.dtype);
    copy_bytes(element(out, total(counts, from)), source(posts[from]), bytes);
    if (from != me) traffic.read += bytes;
  }
  return traffic;
}

Traffic exchange(std::span<const Post> posts, int me) {
  Traffic traffic;
  for (const int peer : posts[me].sources) {
    auto send = posts[peer].sends.begin();
    for (const Message& receive : posts[me].receives) {
      if (receive.peer != peer) continue;
      while (send->peer != me) ++send;
      copy_bytes(element(receive.block, 0), element(send->block, 0), receive.block.bytes());
      if (peer != me) traffic.read += receive.block.bytes();
      ++send;
    }
  }
  return traffic;
}

}  // namespace

Traffic move(std::span<const Post> posts, int me) {
  const Post& mine = posts[me];
  switch (mine.kind) {
    case Kind::all_reduce:
      return all_reduce(posts, me);
    case Kind::reduce_scatter:
      return reduce_scatter(posts, me);
    case Kind::all_gather:
      return gather(posts, me, mine.counts, [](const Post& post) { return element(post.in, 0); });
    case Kind::all_to_all:
      return gather(posts, me, mine.received,
                    [&](const Post& post) { return element(post.in, total(post.counts, me)); });
    case Kind::exchange:
      return exchange(posts, me);
    case Kind::barrier:
      break;
  }
  return {};
}

}  // namespace shardlab::thread
