#pragma once

#include <numeric>
#include <vector>

#include "engine/ops/arithmetic.h"
#include "engine/ops/reduce.h"
#include "tests/support/world.h"

namespace shardlab::test {

/// Nearly even, ragged and empty parts of 14 rows on four ranks.
inline const std::vector<std::vector<std::int64_t>> kinds_of_rows{
    {4, 4, 3, 3}, {2, 3, 4, 5}, {4, 4, 4, 2}, {0, 9, 0, 5}};

/// These, and 12 rows in equal parts.
inline std::vector<std::vector<std::int64_t>> even_and_other_rows() {
  std::vector<std::vector<std::int64_t>> kinds = kinds_of_rows;
  kinds.push_back({3, 3, 3, 3});
  return kinds;
}

inline std::int64_t count_of(const std::vector<std::int64_t>& rows) {
  return std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
}

/// Four ranks.
inline World four() {
  World world;
  world.mesh = "domain=4";
  return world;
}

/// Values one after another.
inline Values joined(const std::vector<Tensor>& tensors) {
  Values all;
  for (const Tensor& tensor : tensors) {
    const Values more = whole_values(tensor);
    all.data.insert(all.data.end(), more.data.begin(), more.data.end());
  }
  all.shape = {static_cast<std::int64_t>(all.data.size())};
  return all;
}

/// mean(x * x).
inline Tensor mean_square(const Tensor& x) { return mean(multiply(x, x)); }

}  // namespace shardlab::test
