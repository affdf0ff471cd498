#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/comm/thread/post.h"

namespace shardlab::thread {

/// What the members of one group share: for each of the last `depth` calls what every member
/// published and whether it has done its part. Calls are numbered from 1.
class Group {
 public:
  using Number = std::atomic<std::uint64_t>;

  /// Calls that may be pending at once before a start has to wait.
  static constexpr std::uint64_t depth = 256;

  /// `ranks` in order of position; `axes` is their name in errors.
  Group(std::vector<int> ranks, std::string axes);

  [[nodiscard]] int size() const { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] std::span<const int> ranks() const { return ranks_; }
  [[nodiscard]] const std::string& axes() const { return axes_; }

  /// All positions.
  [[nodiscard]] std::span<const int> everyone() const { return everyone_; }

  /// Written by their member before it raises `started`, read by others after; kept until all have
  /// done their part.
  [[nodiscard]] std::span<Post> posts(std::uint64_t call) {
    return {posts_.data() + first_of(call), ranks_.size()};
  }

  /// The last call that a member started.
  [[nodiscard]] Number& started(int position) { return started_[position].value; }

  /// At least `call` once the member no longer needs the memory of others for it.
  [[nodiscard]] Number& finished(std::uint64_t call, int position) {
    return finished_[first_of(call) + position].value;
  }

  /// Bytes that others wrote into the memory of a member.
  [[nodiscard]] Number& written(int position) { return written_[position].value; }

 private:
  struct alignas(64) Line {
    Number value{0};
  };
  [[nodiscard]] std::size_t first_of(std::uint64_t call) const {
    return call % depth * ranks_.size();
  }

  std::vector<int> ranks_;
  std::vector<int> everyone_;
  std::string axes_;
  std::vector<Post> posts_;
  std::vector<Line> started_;
  std::vector<Line> finished_;
  std::vector<Line> written_;
};

}  // namespace shardlab::thread
