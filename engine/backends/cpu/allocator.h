#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/backends/cpu/library_memory.h"

namespace shardlab::cpu {

/// Memory of one rank, counted beneath the engine.
///
/// Units    Bytes; an allocation counts as its size rounded up to 64.
struct CpuStats {
  std::int64_t live = 0;
  std::int64_t peak = 0;
  std::int64_t library_live = 0;
  std::int64_t library_peak = 0;
  std::int64_t reserved = 0;  ///< Taken from the system, in use or kept for reuse.
};

/// Blocks aligned to 64 bytes; freed ones are kept, so that a step that repeats touches no fresh
/// pages. For one thread.
class Allocator {
 public:
  Allocator() = default;
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;
  ~Allocator();

  /// Errors   Error{external} saying what was asked and what is live.
  [[nodiscard]] void* allocate(std::int64_t bytes);
  void release(void* data, std::int64_t bytes);

  /// The same for memory that libraries ask for, counted apart.
  [[nodiscard]] void* allocate_library(std::int64_t bytes);
  void release_library(void* data, std::int64_t bytes);

  [[nodiscard]] const CpuStats& stats() const { return stats_; }

  /// Forgets the peaks: what is live now becomes them.
  void reset_peak();

 private:
  /// A freed block, linked through its own memory.
  struct Free {
    Free* next;
  };
  static constexpr std::size_t class_count = 352;

  [[nodiscard]] void* take(std::int64_t bytes);
  [[nodiscard]] void* take_fresh(std::int64_t bytes);
  [[noreturn]] void fail_without(std::int64_t bytes) const;
  void put_back(void* data, std::int64_t bytes);
  [[nodiscard]] std::byte* carve(std::int64_t bytes);
  [[nodiscard]] std::byte* map(std::int64_t bytes);
  void unmap(std::byte* data, std::int64_t bytes);
  void unmap_kept();

  CpuStats stats_;
  std::array<Free*, class_count> free_{};
  std::byte* rest_ = nullptr;  // what is left of the newest arena
  std::int64_t rest_bytes_ = 0;
  std::vector<std::byte*> arenas_;
};

/// The part of an allocator that libraries ask.
class LibraryPart final : public LibraryMemory {
 public:
  explicit LibraryPart(Allocator& allocator) : allocator_(allocator) {}
  [[nodiscard]] void* allocate(std::int64_t bytes) override {
    return allocator_.allocate_library(bytes);
  }
  void release(void* memory, std::int64_t bytes) noexcept override {
    allocator_.release_library(memory, bytes);
  }

 private:
  Allocator& allocator_;
};

}  // namespace shardlab::cpu
