#include "engine/core/communicator.h"

#include <algorithm>
#include <numeric>

#include "engine/core/check.h"

namespace shardlab {
namespace {

std::int64_t total(Counts counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

void check_counts(const char* call, Counts counts, int size, const Block& in, const Block& out) {
  check(static_cast<int>(counts.size()) == size, "{}: {} counts for {} ranks", call, counts.size(),
        size);
  check(in.dtype == out.dtype, "{}: input is {}, output {}", call, name_of(in.dtype),
        name_of(out.dtype));
  for (const std::int64_t count : counts) check(count >= 0, "{}: a count of {}", call, count);
}

}  // namespace

std::int64_t chunk_begin(std::int64_t count, int size, int position) {
  // Whole cache lines of float32, so that two members never write one line.
  const std::int64_t lines = (count + 15) / 16;
  return std::min(count, (lines * position / size) * 16);
}

std::int64_t all_reduce_bytes(std::int64_t count, Dtype dtype, int size, int position) {
  const std::int64_t mine =
      chunk_begin(count, size, position + 1) - chunk_begin(count, size, position);
  return ((count - mine) + (size - 1) * mine) * width_of(dtype);
}

Pending Communicator::all_reduce(Block in, Block out, Reduction reduction) {
  check(in.count == out.count && in.dtype == out.dtype,
        "all-reduce: input has {} elements of {}, output {} of {}", in.count, name_of(in.dtype),
        out.count, name_of(out.dtype));
  count(all_reduce_bytes(in.count, in.dtype, size(), position()));
  return do_all_reduce(in, out, reduction);
}

Pending Communicator::all_gather(Block in, Block out, Counts counts) {
  check_counts("all-gather", counts, size(), in, out);
  check(in.count == counts[position()] && out.count == total(counts),
        "all-gather: counts say {} of {}, input has {} and output {}", counts[position()],
        total(counts), in.count, out.count);
  count(out.bytes() - in.bytes());
  return do_all_gather(in, out, counts);
}

Pending Communicator::reduce_scatter(Block in, Block out, Counts counts, Reduction reduction) {
  check_counts("reduce-scatter", counts, size(), in, out);
  check(out.count == counts[position()] && in.count == total(counts),
        "reduce-scatter: counts say {} of {}, output has {} and input {}", counts[position()],
        total(counts), out.count, in.count);
  count((size() - 1) * out.bytes());
  return do_reduce_scatter(in, out, counts, reduction);
}

Pending Communicator::all_to_all(Block in, Counts sent, Block out, Counts received) {
  check_counts("all-to-all", sent, size(), in, out);
  check_counts("all-to-all", received, size(), in, out);
  check(total(sent) == in.count && total(received) == out.count,
        "all-to-all: counts say {} out and {} in, blocks have {} and {}", total(sent),
        total(received), in.count, out.count);
  check(sent[position()] == received[position()],
        "all-to-all: {} elements to itself, {} from itself", sent[position()],
        received[position()]);
  count(out.bytes() - received[position()] * width_of(out.dtype));
  return do_all_to_all(in, sent, out, received);
}

Pending Communicator::exchange(std::span<const Message> sends, std::span<const Message> receives) {
  std::int64_t bytes = 0;
  for (const Message& message : sends)
    check(message.peer >= 0 && message.peer < size(), "send to {} in a group of {}", message.peer,
          size());
  for (const Message& message : receives) {
    check(message.peer >= 0 && message.peer < size(), "receive from {} in a group of {}",
          message.peer, size());
    if (message.peer != position()) bytes += message.block.bytes();
  }
  count(bytes);
  return do_exchange(sends, receives);
}

void Communicator::wait(Pending pending) { do_wait(pending); }

}  // namespace shardlab
