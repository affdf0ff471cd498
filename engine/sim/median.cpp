#include "engine/sim/median.h"

#include <algorithm>

#include "engine/core/check.h"

namespace shardlab::sim {

double median(std::vector<double> values) {
  expect(!values.empty(), "the median of no values");
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

}  // namespace shardlab::sim
