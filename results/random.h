#pragma once

#include <cstddef>
#include <cstdint>

namespace shardlab::results {

/// Draws that are the same in every implementation of the standard library.
///
/// Source   SplitMix64: Steele, Lea and Flood, OOPSLA 2014.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  /// One of 0 .. n - 1; n is at most 2^32.
  std::size_t below(std::size_t n) { return (next() >> 32) * n >> 32; }

 private:
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  std::uint64_t state_;
};

}  // namespace shardlab::results
