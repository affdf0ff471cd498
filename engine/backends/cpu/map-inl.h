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
  if constexpr (HWY_TARGET <= HWY_AVX2) {
    const auto mask = hn::FirstN(d, static_cast<std::size_t>(count));
    return hn::IfThenElse(mask, hn::MaskedLoad(mask, d, from), hn::Set(d, rest));
  } else {
    HWY_ALIGN T lanes[hn::MaxLanes(d)];
    hn::Store(hn::Set(d, rest), d, lanes);
    for (std::int64_t i = 0; i < count; ++i) lanes[i] = from[i];
    return hn::Load(d, lanes);
  }
}

template <class D, typename T>
HWY_INLINE void store_some(hn::Vec<D> v, D d, T* to, std::int64_t count) {
  if constexpr (HWY_TARGET <= HWY_AVX2) {
    hn::BlendedStore(v, hn::FirstN(d, static_cast<std::size_t>(count)), d, to);
  } else {
    HWY_ALIGN T lanes[hn::MaxLanes(d)];
    hn::Store(v, d, lanes);
    for (std::int64_t i = 0; i < count; ++i) to[i] = lanes[i];
  }
}

/// out = f(d, inputs...) for dense elements.
template <class F, typename T, typename... Inputs>
HWY_INLINE void map(std::int64_t count, const F& f, T* out, const Inputs*... inputs) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(f(d, hn::LoadU(d, inputs + i)...), d, out + i);
  if (i < count) store_some(f(d, load_some(d, inputs + i, count - i)...), d, out + i, count - i);
}

/// Hands out pieces of an evenly spaced run one after another; `buffer` holds a piece that does not
/// lie so.
template <typename T>
class Feed {
 public:
  static constexpr std::int64_t piece = 512;

  Feed(const T* from, std::int64_t stride, std::int64_t run, T* buffer)
      : from_(from), stride_(stride), buffer_(buffer) {
    if (stride == 0) std::fill_n(buffer, std::min(run, piece), *from);
  }

  HWY_INLINE const T* operator()(std::int64_t begin, std::int64_t count) const {
    if (stride_ == 1) return from_ + begin;
    if (stride_ != 0)
      for (std::int64_t i = 0; i < count; ++i) buffer_[i] = from_[(begin + i) * stride_];
    return buffer_;
  }

 private:
  const T* from_;
  std::int64_t stride_;
  T* buffer_;
};

/// out = f(d, x) for all elements of a loop over x and the dense out.
template <class F, typename T>
HWY_INLINE void map_loop(const Loop<2>& loop, const F& f, const T* x, T* out) {
  HWY_ALIGN T buffer[Feed<T>::piece];
  const std::int64_t run = loop.run();
  const std::int64_t step = loop.stride(0) == 1 ? run : Feed<T>::piece;
  loop.for_each_run([&](const Loop<2>::Offsets& offset) {
    const Feed<T> feed(x + offset[0], loop.stride(0), run, buffer);
    for (std::int64_t i = 0; i < run; i += step) {
      const std::int64_t count = std::min(step, run - i);
      map(count, f, out + offset[1] + i, feed(i, count));
    }
  });
}

/// out = f(d, a, b) for all elements of a loop over a, b and the dense out.
template <class F, typename T>
HWY_INLINE void map_loop(const Loop<3>& loop, const F& f, const T* a, const T* b, T* out) {
  HWY_ALIGN T buffer_a[Feed<T>::piece];
  HWY_ALIGN T buffer_b[Feed<T>::piece];
  const std::int64_t run = loop.run();
  const std::int64_t step = loop.stride(0) == 1 && loop.stride(1) == 1 ? run : Feed<T>::piece;
  loop.for_each_run([&](const Loop<3>::Offsets& offset) {
    const Feed<T> feed_a(a + offset[0], loop.stride(0), run, buffer_a);
    const Feed<T> feed_b(b + offset[1], loop.stride(1), run, buffer_b);
    for (std::int64_t i = 0; i < run; i += step) {
      const std::int64_t count = std::min(step, run - i);
      map(count, f, out + offset[2] + i, feed_a(i, count), feed_b(i, count));
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu
HWY_AFTER_NAMESPACE();

#endif
