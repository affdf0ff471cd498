// Included once for every instruction set, hence this guard.
#if defined(SHARDLAB_BACKENDS_CPU_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDLAB_BACKENDS_CPU_ROWS_INL_H
#undef SHARDLAB_BACKENDS_CPU_ROWS_INL_H
#else
#define SHARDLAB_BACKENDS_CPU_ROWS_INL_H
#endif

#include <hwy/highway.h>

#include <array>
#include <cstdint>
#include <limits>

#include "engine/backends/cpu/exp-inl.h"
#include "engine/backends/cpu/map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Sums over a row: f(d, sums, x...) adds a vector of each operand to its `count` sums. Lanes
/// behind the row hold f.nothing() of the first operand and 0 of others, and must add nothing.
template <int count, class F, typename T, typename... Others>
HWY_INLINE std::array<T, count> row_sums(std::int64_t width, const F& f, const T* x,
                                         const Others*... others) {
  // As many chains as hide the latency of an addition, or as there are registers for.
  constexpr int chains = count == 1 ? 4 : 2;
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V sums[chains][count];
  for (auto& chain : sums)
    for (V& sum : chain) sum = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + chains * lanes <= width; i += chains * lanes) {
#pragma GCC unroll 4
    for (int c = 0; c < chains; ++c)
      f(d, sums[c], hn::LoadU(d, x + i + c * lanes), hn::LoadU(d, others + i + c * lanes)...);
  }
  for (; i + lanes <= width; i += lanes)
    f(d, sums[0], hn::LoadU(d, x + i), hn::LoadU(d, others + i)...);
  if (i < width)
    f(d, sums[1], load_some(d, x + i, width - i, f.nothing()),
      load_some(d, others + i, width - i)...);
  std::array<T, count> totals;
  for (int k = 0; k < count; ++k) {
    V sum = hn::Add(sums[0][k], sums[1][k]);
    if constexpr (chains == 4) sum = hn::Add(sum, hn::Add(sums[2][k], sums[3][k]));
    totals[static_cast<std::size_t>(k)] = hn::GetLane(hn::SumOfLanes(d, sum));
  }
  return totals;
}

/// The greatest element of a row, or minus infinity.
template <typename T>
HWY_INLINE T row_maximum(const T* x, std::int64_t width) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const T lowest = -std::numeric_limits<T>::infinity();
  auto a = hn::Set(d, lowest);
  auto b = a;
  std::int64_t i = 0;
  for (; i + 2 * lanes <= width; i += 2 * lanes) {
    a = hn::Max(a, hn::LoadU(d, x + i));
    b = hn::Max(b, hn::LoadU(d, x + i + lanes));
  }
  for (; i + lanes <= width; i += lanes) a = hn::Max(a, hn::LoadU(d, x + i));
  if (i < width) b = hn::Max(b, load_some(d, x + i, width - i, lowest));
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(a, b)));
}

/// Adds elements.
template <typename T>
struct Plain {
  [[nodiscard]] T nothing() const { return 0; }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE void operator()(D, V* sums, V x) const {
    sums[0] = hn::Add(sums[0], x);
  }
};

template <typename T>
HWY_INLINE T row_sum(std::int64_t width, const T* x) {
  return row_sums<1>(width, Plain<T>{}, x)[0];
}

/// e^(x - top), for x up to top; or the sum of these.
template <typename T>
struct ExpBelow {
  T top;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return exp_bounded(d, hn::Sub(x, hn::Set(d, top)));
  }
  [[nodiscard]] T nothing() const { return -std::numeric_limits<T>::infinity(); }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE void operator()(D d, V* sums, V x) const {
    sums[0] = hn::Add(sums[0], (*this)(d, x));
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu
HWY_AFTER_NAMESPACE();

#endif
