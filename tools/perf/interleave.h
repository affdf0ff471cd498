#pragma once

#include <chrono>
#include <vector>

#include "results/statistics.h"

namespace shardlab::perf {

/// Seconds that a call takes.
template <typename F>
double seconds_of(const F& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

using results::median;

/// Medians of two calls made in turn, and of the ratio pair by pair, which holds while the speed of
/// the machine drifts.
struct Paired {
  double first_seconds = 0;
  double second_seconds = 0;
  double second_over_first = 0;
};

template <typename A, typename B>
Paired interleave(const A& a, const B& b, int pairs) {
  a();
  b();
  std::vector<double> first;
  std::vector<double> second;
  std::vector<double> ratio;
  for (int i = 0; i < pairs; ++i) {
    first.push_back(seconds_of(a));
    second.push_back(seconds_of(b));
    ratio.push_back(second.back() / first.back());
  }
  return {median(first), median(second), median(ratio)};
}

}  // namespace shardlab::perf
