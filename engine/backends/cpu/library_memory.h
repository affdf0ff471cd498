#pragma once

#include <cstddef>
#include <cstdint>

namespace shardlab::cpu {

/// Where scratchpads and packed copies come from; whoever implements it counts them as `library`.
class LibraryMemory {
 public:
  virtual ~LibraryMemory() = default;

  /// Uninitialised memory, aligned to 64 bytes or more.
  [[nodiscard]] virtual void* allocate(std::int64_t bytes) = 0;
  virtual void release(void* memory, std::int64_t bytes) noexcept = 0;
};

/// One piece of library memory that grows to the largest request and is kept.
class Scratch {
 public:
  explicit Scratch(LibraryMemory& memory) : memory_(memory) {}
  ~Scratch() { drop(); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// At least `bytes`, valid until the next call; its content is undefined.
  [[nodiscard]] std::byte* reserve(std::int64_t bytes) {
    if (bytes > capacity_) [[unlikely]]
      grow(bytes);
    return data_;
  }

 private:
  void drop() noexcept {
    if (data_ != nullptr) memory_.release(data_, capacity_);
    data_ = nullptr;
    capacity_ = 0;
  }

  void grow(std::int64_t bytes) {
    drop();
    data_ = static_cast<std::byte*>(memory_.allocate(bytes));
    capacity_ = bytes;
  }

  LibraryMemory& memory_;
  std::byte* data_ = nullptr;
  std::int64_t capacity_ = 0;
};

}  // namespace shardlab::cpu
