#include "results/rate.h"

#include <algorithm>
#include <cmath>

#include "engine/core/check.h"

namespace shardlab::results {

Interval rate_interval(std::int64_t hits, std::int64_t trials) {
  check(trials > 0, "a rate of {} trials", trials);
  check(hits >= 0 && hits <= trials, "a rate of {} hits in {} trials", hits, trials);
  constexpr double z = 1.959963984540054;
  const auto n = static_cast<double>(trials);
  const double rate = static_cast<double>(hits) / n;
  const double middle = (rate + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(rate * (1 - rate) / n + z * z / (4 * n * n));
  // Rounding must not leave the ends beside 0 and 1.
  return {hits == 0 ? 0 : std::max(0.0, middle - half),
          hits == trials ? 1 : std::min(1.0, middle + half)};
}

}  // namespace shardlab::results
