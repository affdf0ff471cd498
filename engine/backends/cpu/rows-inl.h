// Included once for every instruction set, hence this guard.
#if defined(SHARDLAB_BACKENDS_CPU_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDLAB_BACKENDS_CPU_ROWS_INL_H
#undef SHARDLAB_BACKENDS_CPU_ROWS_INL_H
#else
#define SHARDLAB_BACKENDS_CPU_ROWS_INL_H
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <limits>

#include "engine/backends/cpu/exp-inl.h"
#include "engine/backends/cpu/map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The sum of f(d, x) over a row, in two chains; f of `nothing` must be 0.
template <typename T, class F>
HWY_INLINE T row_sum(const T* x, std::int64_t width, const F& f, T nothing = T(0)) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto a = hn::Zero(d);
  auto b = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + 2 * lanes <= width; i += 2 * lanes) {
    a = hn::Add(a, f(d, hn::LoadU(d, x + i)));
    b = hn::Add(b, f(d, hn::LoadU(d, x + i + lanes)));
  }
  for (; i + lanes <= width; i += lanes) a = hn::Add(a, f(d, hn::LoadU(d, x + i)));
  if (i < width) b = hn::Add(b, f(d, load_some(d, x + i, width - i, nothing)));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(a, b)));
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

/// The element itself.
struct Itself {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D, V x) const {
    return x;
  }
};

/// e^(x - top), for x up to top.
template <typename T>
struct ExpBelow {
  T top;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return exp_bounded(d, hn::Sub(x, hn::Set(d, top)));
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu
HWY_AFTER_NAMESPACE();

#endif
