#pragma once

#include <vector>

#include "engine/ops/arithmetic.h"
#include "engine/ops/reduce.h"
#include "tests/support/world.h"

namespace shardlab::test {

/// Even, ragged and empty parts of 14 rows on four ranks.
inline const std::vector<std::vector<std::int64_t>> kinds_of_rows{
    {4, 4, 3, 3}, {2, 3, 4, 5}, {4, 4, 4, 2}, {0, 9, 0, 5}};

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
