#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "engine/core/ref.h"

namespace shardlab {

class Backend;

/// What an allocation is for. `library` memory (scratchpads, packed copies, staging) is measured
/// and reported but is no part of the engine bytes.
enum class Category : std::uint8_t {
  parameter,
  gradient,
  optimizer,
  activation,
  workspace,
  communication,
  library,
};
inline constexpr int category_count = 7;

[[nodiscard]] const char* name_of(Category category) noexcept;

/// Live and peak engine bytes of one rank, in the program order of its thread.
///
/// Units    Bytes; an allocation counts as its size rounded up to 64.
class Ledger {
 public:
  void charge(Category category, std::int64_t bytes);
  void credit(Category category, std::int64_t bytes);

  [[nodiscard]] std::int64_t live() const { return live_; }
  [[nodiscard]] std::int64_t live(Category category) const { return by_category_[index(category)]; }
  [[nodiscard]] std::int64_t peak() const { return peak_; }

  /// What each category held when the total was highest.
  [[nodiscard]] std::int64_t at_peak(Category category) const { return at_peak_[index(category)]; }

  /// Forgets the peak: what is live now becomes it.
  void reset_peak();

 private:
  static int index(Category category) { return static_cast<int>(category); }
  std::array<std::int64_t, category_count> by_category_{};
  std::array<std::int64_t, category_count> at_peak_{};
  std::int64_t live_ = 0;
  std::int64_t peak_ = 0;
};

/// Engine bytes of a request: rounded up to 64.
[[nodiscard]] constexpr std::int64_t engine_bytes(std::int64_t requested) {
  return (requested + 63) / 64 * 64;
}

/// Memory of one rank, given back to its backend with the last reference.
class Buffer : public Counted {
 public:
  Buffer(Backend& backend, void* data, std::int64_t bytes, Category category)
      : backend_(&backend), data_(data), bytes_(bytes), category_(category) {}
  ~Buffer();

  /// Null under meta.
  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  [[nodiscard]] Category category() const { return category_; }

  /// Moves the bytes to another line of the ledger.
  void recategorize(Category category);

  /// Number of times the content was changed in place since it was made.
  [[nodiscard]] std::uint32_t version() const { return version_; }
  void changed() { ++version_; }

 private:
  Backend* backend_;
  void* data_;
  std::int64_t bytes_;
  Category category_;
  std::uint32_t version_ = 0;
};

}  // namespace shardlab
