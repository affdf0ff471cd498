#include "engine/ops/attention_merge.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/backends/cpu/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backends/cpu/attention_merge.cpp"
#include <hwy/foreach_target.h>
// Highway needs this order.
#include <hwy/highway.h>

#include "engine/backends/cpu/map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// wa a + wb b.
template <typename T>
struct WeightedSum {
  T wa, wb;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V a, V b) const {
    return hn::MulAdd(a, hn::Set(d, wa), hn::Mul(b, hn::Set(d, wb)));
  }
};

template <typename T>
struct Weighted {
  T weight;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Mul(x, hn::Set(d, weight));
  }
};

/// exp(part - whole), 0 for a part that saw no key.
template <typename T>
T weight_of(T part, T whole) {
  return part == -std::numeric_limits<T>::infinity() ? T(0) : std::exp(part - whole);
}

template <typename T>
void merge(std::int64_t rows, std::int64_t width, const T* a, const T* a_lse, const T* b,
           const T* b_lse, T* out, T* lse) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const T high = std::max(a_lse[row], b_lse[row]);
    const T low = std::min(a_lse[row], b_lse[row]);
    const T share = weight_of(low, high);
    const T high_weight = 1 / (1 + share);
    const T low_weight = share / (1 + share);
    lse[row] = high + std::log1p(share);
    WeightedSum<T> sum{high_weight, low_weight};
    if (a_lse[row] != high) std::swap(sum.wa, sum.wb);
    if (high == -std::numeric_limits<T>::infinity()) sum = {0, 0};
    map(width, sum, out + row * width, a + row * width, b + row * width);
  }
}

/// The sum of g (part - out) over a row.
template <typename T>
HWY_INLINE T gain(std::int64_t width, const T* g, const T* part, const T* out) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto total = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + lanes <= width; i += lanes)
    total = hn::MulAdd(hn::LoadU(d, g + i),
                       hn::Sub(hn::LoadU(d, part + i), hn::LoadU(d, out + i)), total);
  if (i < width) {
    const std::int64_t rest = width - i;
    total = hn::MulAdd(load_some(d, g + i, rest),
                       hn::Sub(load_some(d, part + i, rest), load_some(d, out + i, rest)), total);
  }
  return hn::GetLane(hn::SumOfLanes(d, total));
}

template <typename T>
void part_gradient(std::int64_t rows, std::int64_t width, const T* part, const T* part_lse,
                   const T* out, const T* lse, const T* g, const T* lse_g, T* part_g,
                   T* part_lse_g) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t at = row * width;
    const T weight = weight_of(part_lse[row], lse[row]);
    map(width, Weighted<T>{weight}, part_g + at, g + at);
    part_lse_g[row] =
        weight == 0 ? T(0) : weight * (lse_g[row] + gain(width, g + at, part + at, out + at));
  }
}

void merge_float(std::int64_t rows, std::int64_t width, const float* a, const float* a_lse,
                 const float* b, const float* b_lse, float* out, float* lse) {
  merge(rows, width, a, a_lse, b, b_lse, out, lse);
}

void merge_double(std::int64_t rows, std::int64_t width, const double* a, const double* a_lse,
                  const double* b, const double* b_lse, double* out, double* lse) {
  merge(rows, width, a, a_lse, b, b_lse, out, lse);
}

void gradient_float(std::int64_t rows, std::int64_t width, const float* part,
                    const float* part_lse, const float* out, const float* lse, const float* g,
                    const float* lse_g, float* part_g, float* part_lse_g) {
  part_gradient(rows, width, part, part_lse, out, lse, g, lse_g, part_g, part_lse_g);
}

void gradient_double(std::int64_t rows, std::int64_t width, const double* part,
                     const double* part_lse, const double* out, const double* lse,
                     const double* g, const double* lse_g, double* part_g, double* part_lse_g) {
  part_gradient(rows, width, part, part_lse, out, lse, g, lse_g, part_g, part_lse_g);
}

}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardlab::cpu {
namespace {
HWY_EXPORT(merge_float);
HWY_EXPORT(merge_double);
HWY_EXPORT(gradient_float);
HWY_EXPORT(gradient_double);
}  // namespace

template <typename T>
void attention_merge(const Call& call, Tools&) {
  const auto in = [&](int i) { return static_cast<const T*>(call.inputs[i]->data); };
  const auto out = [&](int o) { return call.outputs[o]->as<T>(); };
  const std::int64_t rows = call.inputs[1]->shape.count();
  const std::int64_t width = call.inputs[0]->shape[3];
  if constexpr (std::is_same_v<T, float>)
    HWY_DYNAMIC_DISPATCH(merge_float)(rows, width, in(0), in(1), in(2), in(3), out(0), out(1));
  else
    HWY_DYNAMIC_DISPATCH(merge_double)(rows, width, in(0), in(1), in(2), in(3), out(0), out(1));
}

template <typename T>
void attention_merge_gradient(const Call& call, Tools&) {
  const auto in = [&](int i) { return static_cast<const T*>(call.inputs[i]->data); };
  const auto out = [&](int o) { return call.outputs[o]->as<T>(); };
  const std::int64_t rows = call.inputs[1]->shape.count();
  const std::int64_t width = call.inputs[0]->shape[3];
  for (int part = 0; part < 4; part += 2) {
    if constexpr (std::is_same_v<T, float>)
      HWY_DYNAMIC_DISPATCH(gradient_float)(rows, width, in(part), in(part + 1), in(4), in(5), in(6),
                                           in(7), out(part), out(part + 1));
    else
      HWY_DYNAMIC_DISPATCH(gradient_double)(rows, width, in(part), in(part + 1), in(4), in(5),
                                            in(6), in(7), out(part), out(part + 1));
  }
}

template void attention_merge<float>(const Call&, Tools&);
template void attention_merge<double>(const Call&, Tools&);
template void attention_merge_gradient<float>(const Call&, Tools&);
template void attention_merge_gradient<double>(const Call&, Tools&);

}  // namespace shardlab::cpu
#endif
