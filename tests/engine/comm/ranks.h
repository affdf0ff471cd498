#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "engine/core/communicator.h"
#include "engine/core/error.h"

namespace shardlab::test {

/// What one rank runs.
using Program = std::function<void(Network& network, int rank)>;

/// One kind of communicator under test.
struct Execution {
  const char* name;
  /// Runs a program on every rank of a mesh until all have ended. A rank that throws aborts the
  /// launch and fails the test.
  void (*run)(const Mesh& mesh, const Program& program);
  /// Bytes that a communicator counted where it moved them.
  std::int64_t (*moved_bytes)(const Communicator& communicator);

  friend void PrintTo(const Execution& execution, std::ostream* out) { *out << execution.name; }
};

/// All kinds that move data; a new one joins here.
[[nodiscard]] std::vector<Execution> executions();

/// Tests that hold for every kind of communicator, on a line of ranks.
class OnRanks : public testing::TestWithParam<std::tuple<Execution, int>> {
 protected:
  [[nodiscard]] const Execution& execution() const { return std::get<0>(GetParam()); }
  [[nodiscard]] int size() const { return std::get<1>(GetParam()); }
  [[nodiscard]] Mesh line() const { return Mesh({{"domain", size()}}); }

  /// Runs on a line of ranks with the communicator of all; then the formulas of the calls that were
  /// made must have counted what was moved.
  void on_line(const std::function<void(Communicator&)>& program) const;
};

/// As printed behind a test's name.
[[nodiscard]] std::string name_of_ranks(
    const testing::TestParamInfo<std::tuple<Execution, int>>& info);

/// The communicator of all ranks of a mesh, in order of rank.
[[nodiscard]] std::unique_ptr<Communicator> open_all(Network& network, const Mesh& mesh, int rank);

/// Runs what must fail.
///
/// Errors   Fails the test unless an error of this fault is thrown that has all the texts.
void expect_error(Fault fault, const std::vector<std::string>& texts,
                  const std::function<void()>& action);

template <typename T>
constexpr Dtype dtype_of() {
  if constexpr (std::is_same_v<T, double>) return Dtype::float64;
  if constexpr (std::is_same_v<T, float>) return Dtype::float32;
  if constexpr (std::is_same_v<T, std::int64_t>) return Dtype::int64;
  return Dtype::bfloat16;
}

template <typename T>
Block block_of(std::vector<T>& values) {
  return {values.data(), static_cast<std::int64_t>(values.size()), dtype_of<T>()};
}

/// A small integer that every rank can say of every other, so that sums are exact.
template <typename T>
T value_of(int rank, std::int64_t index) {
  return static_cast<T>((rank * 37 + index * 11) % 101);
}

template <typename T>
std::vector<T> values_of(int rank, std::int64_t count, std::int64_t first = 0) {
  std::vector<T> values(count);
  for (std::int64_t i = 0; i < count; ++i) values[i] = value_of<T>(rank, first + i);
  return values;
}

/// The reduction of `values_of` over ranks.
template <typename T>
std::vector<T> reduced_of(const std::vector<int>& ranks, std::int64_t count, Reduction reduction,
                          std::int64_t first = 0) {
  std::vector<T> reduced = values_of<T>(ranks[0], count, first);
  for (std::size_t r = 1; r < ranks.size(); ++r)
    for (std::int64_t i = 0; i < count; ++i) {
      const T value = value_of<T>(ranks[r], first + i);
      reduced[i] =
          reduction == Reduction::sum ? reduced[i] + value : std::max<T>(reduced[i], value);
    }
  return reduced;
}

/// 0, 1, ..., size - 1.
[[nodiscard]] std::vector<int> all_of(int size);

[[nodiscard]] std::int64_t total_of(const std::vector<std::int64_t>& counts);

/// Counts per member: even, uneven, some empty, all but one empty, all empty.
[[nodiscard]] std::vector<std::vector<std::int64_t>> kinds_of_counts(int size);

}  // namespace shardlab::test
