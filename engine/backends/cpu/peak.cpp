#include "engine/backends/cpu/peak.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backends/cpu/peak.cpp"
#include <hwy/foreach_target.h>
// Highway needs this order.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Each variable is its own dependency chain. Twelve cover two units of latency five, and with the
// two constants they still fit the sixteen registers of the smaller levels: an array of sixteen was
// spilled and measured half of the real rate.
template <typename T>
double multiply_add_chains(std::int64_t rounds, T* sink) {
  const hn::ScalableTag<T> d;
  const auto factor = hn::Set(d, T(0.5));
  const auto term = hn::Set(d, T(1));
  // No two may start alike, or the compiler keeps one chain for both.
  auto a = hn::Set(d, T(1)), b = hn::Set(d, T(2)), c = hn::Set(d, T(3)), e = hn::Set(d, T(4)),
       f = hn::Set(d, T(5)), g = hn::Set(d, T(6)), h = hn::Set(d, T(7)), i = hn::Set(d, T(8)),
       j = hn::Set(d, T(9)), k = hn::Set(d, T(10)), l = hn::Set(d, T(11)), m = hn::Set(d, T(12));
  for (std::int64_t round = 0; round < rounds; ++round) {
    a = hn::MulAdd(a, factor, term);
    b = hn::MulAdd(b, factor, term);
    c = hn::MulAdd(c, factor, term);
    e = hn::MulAdd(e, factor, term);
    f = hn::MulAdd(f, factor, term);
    g = hn::MulAdd(g, factor, term);
    h = hn::MulAdd(h, factor, term);
    i = hn::MulAdd(i, factor, term);
    j = hn::MulAdd(j, factor, term);
    k = hn::MulAdd(k, factor, term);
    l = hn::MulAdd(l, factor, term);
    m = hn::MulAdd(m, factor, term);
  }
  const auto left = hn::Add(hn::Add(hn::Add(a, b), hn::Add(c, e)), hn::Add(f, g));
  const auto right = hn::Add(hn::Add(hn::Add(h, i), hn::Add(j, k)), hn::Add(l, m));
  *sink = hn::GetLane(hn::SumOfLanes(d, hn::Add(left, right)));
  return 2.0 * 12.0 * static_cast<double>(hn::Lanes(d)) * static_cast<double>(rounds);
}

double chains_float(std::int64_t rounds, float* sink) { return multiply_add_chains(rounds, sink); }
double chains_double(std::int64_t rounds, double* sink) {
  return multiply_add_chains(rounds, sink);
}

}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardlab::cpu {
namespace {

HWY_EXPORT(chains_float);
HWY_EXPORT(chains_double);

double rate_of_burst(bool float64, std::int64_t rounds, double* seconds) {
  using Clock = std::chrono::steady_clock;
  float single = 0;
  double twice = 0;
  const auto start = Clock::now();
  const double flop = float64 ? HWY_DYNAMIC_DISPATCH(chains_double)(rounds, &twice)
                              : HWY_DYNAMIC_DISPATCH(chains_float)(rounds, &single);
  *seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return flop / std::max(*seconds, 1e-9);
}

}  // namespace

double measure_fma_peak_flops(bool float64) {
  double seconds = 0;
  std::int64_t rounds = 1 << 14;
  for (; rounds < 1 << 28; rounds *= 2) {
    rate_of_burst(float64, rounds, &seconds);
    if (seconds > 0.004) break;
  }
  // Other work on the core only ever lowers a burst, so the highest is the peak.
  double best = 0;
  for (int burst = 0; burst < 15; ++burst)
    best = std::max(best, rate_of_burst(float64, rounds, &seconds));
  return best;
}

}  // namespace shardlab::cpu
#endif
