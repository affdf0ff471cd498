#include "results/holm.h"

#include <algorithm>
#include <numeric>

#include "engine/core/check.h"

namespace shardlab::results {

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> adjusted(p.size());
  double most = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double each = p[order[i]];
    check(each >= 0 && each <= 1, "p is {}; expected 0 to 1", each);
    most = std::max(most, std::min(1.0, each * static_cast<double>(order.size() - i)));
    adjusted[order[i]] = most;
  }
  return adjusted;
}

}  // namespace shardlab::results
