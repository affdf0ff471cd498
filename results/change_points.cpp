#include "results/change_points.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/core/check.h"
#include "results/statistics.h"

namespace shardlab::results {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// Sums over values in order of size, to which values are added one by one.
class SortedSums {
 public:
  explicit SortedSums(std::size_t n) : nodes_(n + 1) {}

  void clear() { std::ranges::fill(nodes_, Sums{}); }

  void add(std::size_t place, double weight, double value) {
    for (std::size_t i = place + 1; i < nodes_.size(); i += i & (~i + 1)) {
      nodes_[i].weight += weight;
      nodes_[i].moment += weight * value;
    }
  }

  struct Below {
    std::size_t place = 0;  // of the first value that reaches the weight
    double weight = 0;      // of all values before it
    double moment = 0;
  };

  [[nodiscard]] Below reaching(double weight) const {
    Below below;
    for (std::size_t step = std::bit_floor(nodes_.size() - 1); step > 0; step /= 2) {
      const std::size_t next = below.place + step;
      if (next >= nodes_.size() || below.weight + nodes_[next].weight >= weight) continue;
      below = {next, below.weight + nodes_[next].weight, below.moment + nodes_[next].moment};
    }
    return below;
  }

 private:
  struct Sums {
    double weight = 0;
    double moment = 0;
  };
  std::vector<Sums> nodes_;
};

// The distance of the values [first, end[ to their median, for all first < end.
class Distances {
 public:
  Distances(std::span<const double> values, std::span<const double> weights)
      : size_(values.size()), table_(size_ * (size_ + 1) / 2) {
    std::vector<std::size_t> order(size_);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
    std::vector<std::size_t> place(size_);
    for (std::size_t i = 0; i < size_; ++i) place[order[i]] = i;
    // Near zero, sums of products lose no digits.
    const double middle = median(values);
    SortedSums sums(size_);
    for (std::size_t first = 0; first < size_; ++first) {
      sums.clear();
      double weight = 0;
      double moment = 0;
      for (std::size_t i = first; i < size_; ++i) {
        const double value = values[i] - middle;
        sums.add(place[i], weights[i], value);
        weight += weights[i];
        moment += weights[i] * value;
        const SortedSums::Below below = sums.reaching(weight / 2);
        const double level = values[order[below.place]] - middle;
        const double distance = level * (2 * below.weight - weight) + moment - 2 * below.moment;
        table_[row(first) + i - first] = std::max(0.0, distance);
      }
    }
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] double operator()(std::size_t first, std::size_t end) const {
    return table_[row(first) + end - 1 - first];
  }

 private:
  [[nodiscard]] std::size_t row(std::size_t first) const {
    return first * (2 * size_ - first + 1) / 2;
  }

  std::size_t size_;
  std::vector<double> table_;
};

// How badly a cut explains a series.
class Badness {
 public:
  Badness(std::size_t n, double resolution)
      : n_(static_cast<double>(n)), resolution_(resolution), penalty_(change_penalty(n)) {}

  double operator()(double sum, std::size_t levels) const {
    return n_ * std::log(sum / n_ + resolution_) + static_cast<double>(levels - 1) * penalty_;
  }

 private:
  double n_;
  double resolution_;
  double penalty_;
};

// The ends of the levels of the best cut, n among them.
std::vector<std::size_t> best_ends(const Distances& distance, const ChangePointOptions& options,
                                   const Badness& badness) {
  const std::size_t n = distance.size();
  std::vector<double> sums(n + 1, infinite);  // of the first so many values
  for (std::size_t end = options.shortest; end <= n; ++end) sums[end] = distance(0, end);
  std::vector<std::vector<std::size_t>> starts;  // of the last level, by levels and end
  double least = badness(sums[n], 1);
  std::size_t best = 1;
  const std::size_t most = std::min(options.most_levels, n / options.shortest);
  for (std::size_t levels = 2; levels <= most; ++levels) {
    std::vector<double> next(n + 1, infinite);
    std::vector<std::size_t>& start = starts.emplace_back(n + 1, 0);
    for (std::size_t end = levels * options.shortest; end <= n; ++end)
      for (std::size_t s = (levels - 1) * options.shortest; s + options.shortest <= end; ++s)
        if (const double sum = sums[s] + distance(s, end); sum < next[end]) {
          next[end] = sum;
          start[end] = s;
        }
    sums = std::move(next);
    if (const double bad = badness(sums[n], levels); bad < least) {
      least = bad;
      best = levels;
    }
  }
  std::vector<std::size_t> ends(best, n);
  for (std::size_t level = best; level-- > 1;) ends[level - 1] = starts[level - 1][ends[level]];
  return ends;
}

// Where else a change could be, its neighbours left where they are.
ChangePoint with_range(const Distances& distance, const std::vector<std::size_t>& ends,
                       std::size_t level, const Badness& badness) {
  const std::size_t before = level == 0 ? 0 : ends[level - 1];
  const std::size_t after = ends[level + 1];
  double others = 0;
  for (std::size_t i = 0, begin = 0; i < ends.size(); begin = ends[i++])
    if (i != level && i != level + 1) others += distance(begin, ends[i]);
  const auto badness_at = [&](std::size_t index) {
    return badness(others + distance(before, index) + distance(index, after), 1);
  };
  ChangePoint found{ends[level], ends[level], ends[level]};
  const double allowed = badness_at(found.index) + std::log(20.0);
  for (std::size_t i = before + 1; i < after; ++i) {
    if (badness_at(i) > allowed) continue;
    found.first = std::min(found.first, i);
    found.last = std::max(found.last, i);
  }
  return found;
}

}  // namespace

double change_penalty(std::size_t n) {
  return std::max(10.0, 4 * std::log(static_cast<double>(n)));
}

std::vector<ChangePoint> change_points(std::span<const double> values,
                                       const ChangePointOptions& options) {
  const std::size_t n = values.size();
  check(n <= most_values, "change points of {} values: at most {}", n, most_values);
  check(options.shortest >= 1, "change points: a level has at least 1 value, not 0");
  check(options.weights.empty() || options.weights.size() == n,
        "change points: {} weights for {} values", options.weights.size(), n);
  double weight = 0;
  for (std::size_t i = 0; i < n; ++i) {
    check(std::isfinite(values[i]), "change points: value {} is {}", i, values[i]);
    if (options.weights.empty()) continue;
    check(options.weights[i] > 0 && std::isfinite(options.weights[i]),
          "change points: weight {} is {}, not positive", i, options.weights[i]);
    weight += options.weights[i];
  }
  if (n < 2 * options.shortest) return {};
  std::vector<double> weights(n, 1);
  if (!options.weights.empty())
    for (std::size_t i = 0; i < n; ++i)
      weights[i] = options.weights[i] / weight * static_cast<double>(n);
  const Distances distance(values, weights);
  // Sums are rounded: without a resolution of its own, a perfect fit would have no best one.
  const auto [low, high] = std::ranges::minmax(values);
  const double resolution = std::max(options.resolution, 1e-12 * (high - low));
  const Badness badness(n, resolution);
  const std::vector<std::size_t> ends = best_ends(distance, options, badness);
  std::vector<ChangePoint> changes;
  for (std::size_t level = 0; level + 1 < ends.size(); ++level)
    changes.push_back(with_range(distance, ends, level, badness));
  return changes;
}

}  // namespace shardlab::results
