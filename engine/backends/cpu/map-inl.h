// Included once for every instruction set, hence this guard.
#if defined(SHARDLAB_BACKENDS_CPU_MAP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDLAB_BACKENDS_CPU_MAP_INL_H
#undef SHARDLAB_BACKENDS_CPU_MAP_INL_H
#else
#define SHARDLAB_BACKENDS_CPU_MAP_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/backends/cpu/loops.h"

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The first `count` elements, fewer than a vector; `rest` fills the other lanes.
template <class D, typename T>
HWY_INLINE hn::Vec<D> load_some(D d, const T* from, std::int64_t count, T rest = T(0)) {
  HWY_ALIGN T lanes[hn::MaxLanes(d)];
  hn::Store(hn::Set(d, rest), d, lanes);
  for (std::int64_t i = 0; i < count; ++i) lanes[i] = from[i];
  return hn::Load(d, lanes);
}

template <class D, typename T>
HWY_INLINE void store_some(hn::Vec<D> v, D d, T* to, std::int64_t count) {
  HWY_ALIGN T lanes[hn::MaxLanes(d)];
  hn::Store(v, d, lanes);
  for (std::int64_t i = 0; i < count; ++i) to[i] = lanes[i];
}

/// out = f(d, inputs...) for dense elements.
template <class F, typename T, typename... Inputs>
HWY_INLINE void map(std::int64_t count, const F& f, T* out, const Inputs*... inputs) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(f(d, hn::LoadU(d, inputs + i)...), d, out + i);
  if (i < count)
    store_some(f(d, load_some(d, inputs + i, count - i)...), d, out + i, count - i);
}

/// Elements of an evenly spaced run, one after another; made in `buffer` unless they lie so.
template <typename T>
HWY_INLINE const T* packed_run(const T* from, std::int64_t stride, std::int64_t count, T* buffer) {
  if (stride == 1) return from;
  for (std::int64_t i = 0; i < count; ++i) buffer[i] = from[i * stride];
  return buffer;
}

/// out = f(d, x) for all elements of a loop over x and the dense out.
template <class F, typename T>
HWY_INLINE void map_loop(const Loop<2>& loop, const F& f, const T* x, T* out) {
  constexpr std::int64_t chunk = 512;
  HWY_ALIGN T buffer[chunk];
  loop.for_each_run([&](const Loop<2>::Offsets& offset) {
    const std::int64_t step = loop.stride(0) == 1 ? loop.run() : chunk;
    for (std::int64_t i = 0; i < loop.run(); i += step) {
      const std::int64_t count = std::min(step, loop.run() - i);
      const T* from = x + offset[0] + i * loop.stride(0);
      map(count, f, out + offset[1] + i, packed_run(from, loop.stride(0), count, buffer));
    }
  });
}

/// out = f(d, a, b) for all elements of a loop over a, b and the dense out.
template <class F, typename T>
HWY_INLINE void map_loop(const Loop<3>& loop, const F& f, const T* a, const T* b, T* out) {
  constexpr std::int64_t chunk = 512;
  HWY_ALIGN T buffer_a[chunk];
  HWY_ALIGN T buffer_b[chunk];
  loop.for_each_run([&](const Loop<3>::Offsets& offset) {
    const bool dense = loop.stride(0) == 1 && loop.stride(1) == 1;
    const std::int64_t step = dense ? loop.run() : chunk;
    for (std::int64_t i = 0; i < loop.run(); i += step) {
      const std::int64_t count = std::min(step, loop.run() - i);
      const T* from_a = a + offset[0] + i * loop.stride(0);
      const T* from_b = b + offset[1] + i * loop.stride(1);
      map(count, f, out + offset[2] + i, packed_run(from_a, loop.stride(0), count, buffer_a),
          packed_run(from_b, loop.stride(1), count, buffer_b));
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu
HWY_AFTER_NAMESPACE();

#endif
