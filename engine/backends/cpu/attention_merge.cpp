#include "engine/ops/attention_merge.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/backends/cpu/kernels.h"
#include "engine/backends/cpu/pick.h"

#ifndef SHARDLAB_BACKENDS_CPU_ATTENTION_MERGE_ONCE
#define SHARDLAB_BACKENDS_CPU_ATTENTION_MERGE_ONCE
namespace shardlab::cpu {

/// Operands of the gradient, in the order of the op.
template <typename T>
struct MergeGradient {
  const T *a, *a_lse, *b, *b_lse, *out, *lse, *g, *lse_g;
  T *a_g, *a_lse_g, *b_g, *b_lse_g;
};

}  // namespace shardlab::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backends/cpu/attention_merge.cpp"
#include <hwy/foreach_target.h>
// Highway needs this order.
#include <hwy/highway.h>

#include "engine/backends/cpu/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Rows whose weights are made together.
inline constexpr std::int64_t row_block = 64;

/// exp(part - whole), 0 for a part that saw no key.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V weight_of(D d, V part, V whole) {
  const V lowest = hn::Set(d, -std::numeric_limits<hn::TFromD<D>>::infinity());
  return hn::IfThenZeroElse(hn::Eq(part, lowest), exp_bounded(d, hn::Sub(part, whole)));
}

struct Weight {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V part, V whole) const {
    return weight_of(d, part, whole);
  }
};

struct Greater {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Max(a, b);
  }
};

/// a / (a + b), 0 where both are.
struct Share {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V a, V b) const {
    const V sum = hn::Add(a, b);
    return hn::IfThenZeroElse(hn::Eq(sum, hn::Zero(d)), hn::Div(a, sum));
  }
};

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

template <typename T>
void merge(std::int64_t rows, std::int64_t width, const T* a, const T* a_lse, const T* b,
           const T* b_lse, T* out, T* lse) {
  T top[row_block], wa[row_block], wb[row_block], share_a[row_block], share_b[row_block];
  for (std::int64_t start = 0; start < rows; start += row_block) {
    const std::int64_t count = std::min(row_block, rows - start);
    map(count, Greater{}, top, a_lse + start, b_lse + start);
    map(count, Weight{}, wa, a_lse + start, top);
    map(count, Weight{}, wb, b_lse + start, top);
    map(count, Share{}, share_a, wa, wb);
    map(count, Share{}, share_b, wb, wa);
    for (std::int64_t i = 0; i < count; ++i) {
      lse[start + i] = top[i] + std::log1p(std::min(wa[i], wb[i]));
      const std::int64_t at = (start + i) * width;
      map(width, WeightedSum<T>{share_a[i], share_b[i]}, out + at, a + at, b + at);
    }
  }
}

/// Sums g (part - out) for both parts.
template <typename T>
struct Gains {
  [[nodiscard]] T nothing() const { return 0; }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE void operator()(D, V* sums, V g, V a, V b, V out) const {
    sums[0] = hn::MulAdd(g, hn::Sub(a, out), sums[0]);
    sums[1] = hn::MulAdd(g, hn::Sub(b, out), sums[1]);
  }
};

template <typename T>
void gradient(std::int64_t rows, std::int64_t width, const MergeGradient<T>& of) {
  // Weights from the parts again, since the merged log-sum-exp is rounded: far apart it would cost
  // the smaller weight most of its digits.
  T top[row_block], part_a[row_block], part_b[row_block], wa[row_block], wb[row_block];
  for (std::int64_t start = 0; start < rows; start += row_block) {
    const std::int64_t count = std::min(row_block, rows - start);
    map(count, Greater{}, top, of.a_lse + start, of.b_lse + start);
    map(count, Weight{}, part_a, of.a_lse + start, top);
    map(count, Weight{}, part_b, of.b_lse + start, top);
    map(count, Share{}, wa, part_a, part_b);
    map(count, Share{}, wb, part_b, part_a);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t row = start + i;
      const std::int64_t at = row * width;
      const auto [gain_a, gain_b] =
          row_sums<2>(width, Gains<T>{}, of.g + at, of.a + at, of.b + at, of.out + at);
      of.a_lse_g[row] = wa[i] == 0 ? T(0) : wa[i] * (of.lse_g[row] + gain_a);
      of.b_lse_g[row] = wb[i] == 0 ? T(0) : wb[i] * (of.lse_g[row] + gain_b);
      map(width, Weighted<T>{wa[i]}, of.a_g + at, of.g + at);
      map(width, Weighted<T>{wb[i]}, of.b_g + at, of.g + at);
    }
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

void gradient_float(std::int64_t rows, std::int64_t width, const MergeGradient<float>& of) {
  gradient(rows, width, of);
}

void gradient_double(std::int64_t rows, std::int64_t width, const MergeGradient<double>& of) {
  gradient(rows, width, of);
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
  pick<T>(HWY_DYNAMIC_DISPATCH(merge_float), HWY_DYNAMIC_DISPATCH(merge_double))(
      rows, width, in(0), in(1), in(2), in(3), out(0), out(1));
}

template <typename T>
void attention_merge_gradient(const Call& call, Tools&) {
  const auto in = [&](int i) { return static_cast<const T*>(call.inputs[i]->data); };
  const auto out = [&](int o) { return call.outputs[o]->as<T>(); };
  const MergeGradient<T> operands{in(0), in(1), in(2),  in(3),  in(4),  in(5),
                                  in(6), in(7), out(0), out(1), out(2), out(3)};
  pick<T>(HWY_DYNAMIC_DISPATCH(gradient_float), HWY_DYNAMIC_DISPATCH(gradient_double))(
      call.inputs[1]->shape.count(), call.inputs[0]->shape[3], operands);
}

template void attention_merge<float>(const Call&, Tools&);
template void attention_merge<double>(const Call&, Tools&);
template void attention_merge_gradient<float>(const Call&, Tools&);
template void attention_merge_gradient<double>(const Call&, Tools&);

}  // namespace shardlab::cpu
#endif
