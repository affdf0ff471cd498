#include "results/rank_test.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "engine/core/check.h"

namespace shardlab::results {
namespace {

constexpr std::size_t most_counted = 50;

// Ranks from 1, doubled so that the mean rank of tied values is whole too.
struct Ranks {
  std::vector<std::size_t> doubled;
  double ties = 0;  // sum of t^3 - t over groups of t equal values
};

Ranks ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  Ranks ranks{std::vector<std::size_t>(values.size())};
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) ranks.doubled[order[i]] = begin + 1 + end;
    const auto tied = static_cast<double>(end - begin);
    ranks.ties += tied * tied * tied - tied;
  }
  return ranks;
}

// The part of the ways whose sum lies as far from the middle as the observed one.
double tails(const std::vector<double>& ways, std::size_t observed, std::size_t twice_middle) {
  const auto distance = [&](std::size_t sum) {
    return std::abs(static_cast<double>(2 * sum) - static_cast<double>(twice_middle));
  };
  double all = 0, far = 0;
  for (std::size_t sum = 0; sum < ways.size(); ++sum) {
    all += ways[sum];
    if (distance(sum) >= distance(observed)) far += ways[sum];
  }
  return std::min(1.0, far / all);
}

// Half a step towards the middle, because sums are whole and the normal distribution is not.
double normal_p(double difference, double variance) {
  if (variance <= 0) return 1;
  const double z = std::max(0.0, std::abs(difference) - 0.5) / std::sqrt(variance);
  return std::erfc(z / std::sqrt(2));
}

// Ways to choose `chosen` of the ranks, by their sum.
std::vector<double> ways_to_choose(const std::vector<std::size_t>& ranks, std::size_t chosen) {
  const std::size_t most = std::accumulate(ranks.begin(), ranks.end(), std::size_t{0});
  std::vector<std::vector<double>> ways(chosen + 1, std::vector<double>(most + 1, 0));
  ways[0][0] = 1;
  std::size_t reached = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    reached += ranks[i];
    for (std::size_t count = std::min(i + 1, chosen); count > 0; --count)
      for (std::size_t sum = reached; sum >= ranks[i]; --sum)
        ways[count][sum] += ways[count - 1][sum - ranks[i]];
  }
  return ways[chosen];
}

double binomial(std::size_t n, std::size_t k) {
  double ways = 1;
  for (std::size_t i = 1; i <= k; ++i)
    ways *= static_cast<double>(n - k + i) / static_cast<double>(i);
  return ways;
}

}  // namespace

RankTest mann_whitney(std::span<const double> a, std::span<const double> b) {
  check(!a.empty() && !b.empty(), "rank test of {} and {} values", a.size(), b.size());
  std::vector<double> values(a.begin(), a.end());
  values.insert(values.end(), b.begin(), b.end());
  for (const double value : values) check(!std::isnan(value), "rank test of a value that is NaN");
  const Ranks ranks = ranks_of(values);
  const std::size_t sum =
      std::accumulate(ranks.doubled.begin() + static_cast<std::ptrdiff_t>(a.size()),
                      ranks.doubled.end(), std::size_t{0});
  const auto m = static_cast<double>(a.size()), n = static_cast<double>(b.size()), all = m + n;
  const double u = static_cast<double>(sum) / 2 - n * (n + 1) / 2;
  if (values.size() <= most_counted)
    return {u,
            tails(ways_to_choose(ranks.doubled, b.size()), sum, 2 * b.size() * (values.size() + 1)),
            true};
  const double variance = m * n / 12 * (all + 1 - ranks.ties / (all * (all - 1)));
  return {u, normal_p(u - m * n / 2, variance), false};
}

RankTest signed_rank(std::span<const double> differences) {
  std::vector<double> sizes;
  std::vector<bool> positive;
  for (const double difference : differences) {
    check(!std::isnan(difference), "rank test of a difference that is NaN");
    if (difference == 0) continue;
    sizes.push_back(std::abs(difference));
    positive.push_back(difference > 0);
  }
  if (sizes.empty()) return {};
  const Ranks ranks = ranks_of(sizes);
  std::size_t sum = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) sum += positive[i] ? ranks.doubled[i] : 0;
  const double w = static_cast<double>(sum) / 2;
  const std::size_t n = sizes.size();
  if (n <= most_counted) {
    std::vector<double> ways(n * (n + 1) + 1, 0);
    ways[0] = 1;
    for (const std::size_t rank : ranks.doubled)
      for (std::size_t to = ways.size(); to-- > rank;) ways[to] += ways[to - rank];
    return {w, tails(ways, sum, n * (n + 1)), true};
  }
  const auto count = static_cast<double>(n);
  const double variance = count * (count + 1) * (2 * count + 1) / 24 - ranks.ties / 48;
  return {w, normal_p(w - count * (count + 1) / 4, variance), false};
}

double least_mann_whitney_p(std::size_t a, std::size_t b) {
  return std::min(1.0, 2 / binomial(a + b, std::min(a, b)));
}

double least_signed_rank_p(std::size_t pairs) {
  return std::min(1.0, std::ldexp(2, -static_cast<int>(std::min<std::size_t>(pairs, 1000))));
}

}  // namespace shardlab::results
