#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace shardlab {

/// How one extent is cut into parts: offsets, so parts may be uneven or empty.
class Split {
 public:
  /// Errors   Error{invalid} unless offsets start at 0 and never fall.
  explicit Split(std::vector<std::int64_t> offsets);

  /// The split with these part sizes.
  [[nodiscard]] static Split of_sizes(std::span<const std::int64_t> sizes);

  /// Parts as equal as can be in units of `multiple`, larger ones first.
  ///
  /// Errors   Error{invalid} if `multiple` does not divide `total`.
  [[nodiscard]] static Split even(std::int64_t total, int parts, std::int64_t multiple = 1);

  /// Cut for the first group into parts as equal as can be, each of those for the next group, and
  /// so on: every coarser cut is as even as if it had been made alone.
  [[nodiscard]] static Split nested(std::int64_t total, std::span<const int> groups,
                                    std::int64_t multiple = 1);

  [[nodiscard]] int parts() const { return static_cast<int>(offsets_.size()) - 1; }
  [[nodiscard]] std::int64_t total() const { return offsets_.back(); }
  [[nodiscard]] std::int64_t offset(int part) const { return offsets_[part]; }
  [[nodiscard]] std::int64_t size(int part) const { return offsets_[part + 1] - offsets_[part]; }
  [[nodiscard]] std::span<const std::int64_t> offsets() const { return offsets_; }
  [[nodiscard]] std::vector<std::int64_t> sizes() const;

  /// Whether all parts have one size, so that no answer depends on the rank.
  [[nodiscard]] bool uniform() const { return uniform_; }

  /// The split of every `group`-th boundary.
  ///
  /// Errors   Error{internal} if `group` does not divide the number of parts.
  [[nodiscard]] Split coarsened(int group) const;

  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  friend bool operator==(const Split& a, const Split& b) {
    return a.hash_ == b.hash_ && a.offsets_ == b.offsets_;
  }

 private:
  std::vector<std::int64_t> offsets_;
  std::uint64_t hash_ = 0;
  bool uniform_ = true;
};

/// Part sizes as printed: `2,3,0`; equal ones as `4x256`; of more than 16 parts `256x1,768x0`.
[[nodiscard]] std::string to_string(const Split& split);

/// Joins a value to a hash (FNV-1a over 8 bytes).
[[nodiscard]] constexpr std::uint64_t hash_join(std::uint64_t hash, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) hash = (hash ^ (value >> (8 * i) & 0xff)) * 0x100000001b3ULL;
  return hash;
}
inline constexpr std::uint64_t hash_start = 0xcbf29ce484222325ULL;

}  // namespace shardlab
