#include "results/statistics.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/core/check.h"
#include "results/resample.h"

namespace shardlab::results {

double median(std::span<const double> values) {
  check(!values.empty(), "median of no values");
  std::vector<double> copy(values.begin(), values.end());
  const auto middle = copy.begin() + static_cast<std::ptrdiff_t>(copy.size() / 2);
  std::nth_element(copy.begin(), middle, copy.end());
  if (copy.size() % 2 == 1) return *middle;
  return std::midpoint(*std::max_element(copy.begin(), middle), *middle);
}

Interval bootstrap_median(std::span<const double> values, const Bootstrap& options) {
  check(options.resamples > 0, "bootstrap with {} resamples", options.resamples);
  Resample resample(values);
  Random random(options.seed);
  std::vector<double> medians(static_cast<std::size_t>(options.resamples));
  for (double& m : medians) m = resample.median(random);
  return percentiles(std::move(medians), options.coverage);
}

}  // namespace shardlab::results
