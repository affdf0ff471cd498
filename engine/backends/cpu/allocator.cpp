#include "engine/backends/cpu/allocator.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <new>

#include "engine/core/buffer.h"
#include "engine/core/check.h"

namespace shardlab::cpu {
namespace {

// Under AddressSanitizer every block comes from and goes to the system, so that it sees late uses.
#ifdef __SANITIZE_ADDRESS__
constexpr bool keeps_blocks = false;
#else
constexpr bool keeps_blocks = true;
#endif

constexpr std::int64_t huge_page = std::int64_t{2} << 20;
constexpr std::int64_t arena_bytes = 4 * huge_page;

/// More than any machine has; keeps class numbers small.
constexpr std::int64_t largest_block = std::int64_t{1} << 46;

/// Blocks above this are mapped one by one.
constexpr std::int64_t largest_carved = std::int64_t{1} << 20;

/// Blocks of one class are interchangeable.
struct SizeClass {
  std::size_t index;
  std::int64_t bytes;
};

/// Multiples of 64 up to 4 KiB, then eight sizes between powers of two.
SizeClass class_of(std::int64_t bytes) {
  constexpr std::int64_t finest = 4096;
  if (bytes <= finest) {
    const std::int64_t lines = (bytes + 63) / 64;
    return {static_cast<std::size_t>(lines), lines * 64};
  }
  const int log = std::bit_width(static_cast<std::uint64_t>(bytes - 1)) - 1;
  const std::int64_t step = std::int64_t{1} << (log - 3);
  const std::int64_t steps = (bytes + step - 1) / step;  // 9 to 16
  const std::int64_t index = 65 + (log - 12) * 8 + steps - 9;
  return {static_cast<std::size_t>(index), steps * step};
}

bool mapped_alone(std::int64_t class_bytes) { return class_bytes > largest_carved; }

}  // namespace

Allocator::~Allocator() {
  unmap_kept();
  for (std::byte* arena : arenas_) unmap(arena, arena_bytes);
}

void* Allocator::allocate(std::int64_t bytes) {
  void* const data = take(bytes);
  stats_.live += engine_bytes(bytes);
  stats_.peak = std::max(stats_.peak, stats_.live);
  return data;
}

void Allocator::release(void* data, std::int64_t bytes) {
  stats_.live -= engine_bytes(bytes);
  put_back(data, bytes);
}

void* Allocator::allocate_library(std::int64_t bytes) {
  void* const data = take(bytes);
  stats_.library_live += engine_bytes(bytes);
  stats_.library_peak = std::max(stats_.library_peak, stats_.library_live);
  return data;
}

void Allocator::release_library(void* data, std::int64_t bytes) {
  stats_.library_live -= engine_bytes(bytes);
  put_back(data, bytes);
}

void Allocator::reset_peak() {
  stats_.peak = stats_.live;
  stats_.library_peak = stats_.library_live;
}

void* Allocator::take(std::int64_t bytes) {
  if (bytes <= 0) return nullptr;
  if (bytes > largest_block) [[unlikely]]
    fail_without(bytes);
  Free*& kept = free_[class_of(bytes).index];
  if (kept == nullptr) return take_fresh(bytes);
  Free* const block = kept;
  kept = block->next;
  return block;
}

void* Allocator::take_fresh(std::int64_t bytes) {
  const std::int64_t size = keeps_blocks ? class_of(bytes).bytes : engine_bytes(bytes);
  const auto attempt = [&] {
    return keeps_blocks && !mapped_alone(size) ? carve(size) : map(size);
  };
  std::byte* data = attempt();
  if (data == nullptr) {
    unmap_kept();
    data = attempt();
  }
  if (data == nullptr) fail_without(bytes);
  return data;
}

void Allocator::fail_without(std::int64_t bytes) const {
  fail(Fault::external, "cpu: out of memory: {} bytes asked, {} live, {} taken from the system",
       bytes, stats_.live + stats_.library_live, stats_.reserved);
}

void Allocator::put_back(void* data, std::int64_t bytes) {
  if (data == nullptr) return;
  if constexpr (!keeps_blocks) return unmap(static_cast<std::byte*>(data), engine_bytes(bytes));
  Free*& kept = free_[class_of(bytes).index];
  kept = new (data) Free{kept};
}

std::byte* Allocator::carve(std::int64_t bytes) {
  if (rest_bytes_ < bytes) {
    std::byte* const arena = map(arena_bytes);
    if (arena == nullptr) return nullptr;
    arenas_.push_back(arena);
    rest_ = arena;
    rest_bytes_ = arena_bytes;
  }
  std::byte* const data = rest_;
  rest_ += bytes;
  rest_bytes_ -= bytes;
  return data;
}

#ifdef __SANITIZE_ADDRESS__

std::byte* Allocator::map(std::int64_t bytes) {
  void* const data =
      ::operator new (static_cast<std::size_t>(bytes), std::align_val_t{64}, std::nothrow);
  if (data != nullptr) stats_.reserved += bytes;
  return static_cast<std::byte*>(data);
}

void Allocator::unmap(std::byte* data, std::int64_t bytes) {
  ::operator delete (data, std::align_val_t{64});
  stats_.reserved -= bytes;
}

#else

/// Aligned to huge pages, which make the first touch of a big block four times as fast.
std::byte* Allocator::map(std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  const std::size_t padded = size + static_cast<std::size_t>(huge_page);
  void* const data =
      mmap(nullptr, padded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(data);
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::size_t skipped = -address % static_cast<std::uintptr_t>(huge_page);
  std::byte* const aligned = begin + skipped;
  if (skipped > 0) munmap(begin, skipped);
  munmap(aligned + size, padded - skipped - size);
  madvise(aligned, size, MADV_HUGEPAGE);
  stats_.reserved += bytes;
  return aligned;
}

void Allocator::unmap(std::byte* data, std::int64_t bytes) {
  munmap(data, static_cast<std::size_t>(bytes));
  stats_.reserved -= bytes;
}

#endif

void Allocator::unmap_kept() {
  const SizeClass first = class_of(largest_carved + 1);
  for (std::size_t index = first.index; index < class_count; ++index) {
    const std::int64_t log = static_cast<std::int64_t>(index - 65) / 8 + 12;
    const std::int64_t steps = static_cast<std::int64_t>(index - 65) % 8 + 9;
    while (Free* const block = free_[index]) {
      free_[index] = block->next;
      unmap(reinterpret_cast<std::byte*>(block), steps << (log - 3));
    }
  }
}

}  // namespace shardlab::cpu
