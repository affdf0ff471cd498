#include "engine/ops/softmax.h"

#include <algorithm>
#include <cmath>

#include "engine/backends/cpu/kernels.h"
#include "engine/backends/cpu/pick.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backends/cpu/softmax.cpp"
#include <hwy/foreach_target.h>
// Highway needs this order.
#include <hwy/highway.h>

#include "engine/backends/cpu/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
struct Times {
  T factor;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Mul(x, hn::Set(d, factor));
  }
};

template <typename T>
struct Lower {
  T by, rest;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Sub(hn::Sub(x, hn::Set(d, by)), hn::Set(d, rest));
  }
};

template <typename T>
void along_rows(std::int64_t rows, std::int64_t width, bool logarithm, const T* x, T* y) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* from = x + row * width;
    T* to = y + row * width;
    const T top = row_maximum(from, width);
    if (logarithm) {
      const T sum = row_sums<1>(width, ExpBelow<T>{top}, from)[0];
      map(width, Lower<T>{top, std::log(sum)}, to, from);
    } else {
      map(width, ExpBelow<T>{top}, to, from);
      map(width, Times<T>{1 / row_sum(width, to)}, to, to);
    }
  }
}

struct Greater {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D, V a, V b) const {
    // In this order a NaN in `a` stays.
    return hn::IfThenElse(hn::Ge(b, a), b, a);
  }
};

struct Total {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Add(a, b);
  }
};

struct Quotient {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Div(a, b);
  }
};

struct ExpOfDifference {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x, V top) const {
    return exp_bounded(d, hn::Sub(x, top));
  }
};

struct Difference {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D, V x, V top, V rest) const {
    return hn::Sub(hn::Sub(x, top), rest);
  }
};

/// Softmax down the columns of a matrix, a band of columns at a time.
template <typename T>
void down_columns(std::int64_t rows, std::int64_t columns, bool logarithm, const T* x, T* y) {
  constexpr std::int64_t band = 256;
  for (std::int64_t start = 0; start < columns; start += band) {
    const std::int64_t count = std::min(band, columns - start);
    T top[band];
    T sum[band] = {};
    T power[band];
    std::fill(top, top + band, -std::numeric_limits<T>::infinity());
    for (std::int64_t row = 0; row < rows; ++row)
      map(count, Greater{}, top, top, x + row * columns + start);
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t at = row * columns + start;
      T* const powers = logarithm ? power : y + at;
      map(count, ExpOfDifference{}, powers, x + at, top);
      map(count, Total{}, sum, sum, powers);
    }
    if (logarithm)
      for (std::int64_t i = 0; i < count; ++i) sum[i] = std::log(sum[i]);
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t at = row * columns + start;
      if (logarithm)
        map(count, Difference{}, y + at, x + at, top, sum);
      else
        map(count, Quotient{}, y + at, y + at, sum);
    }
  }
}

/// Along the middle one of three dims.
template <typename T>
void along(std::int64_t outer, std::int64_t middle, std::int64_t inner, bool logarithm, const T* x,
           T* y) {
  if (inner == 1) return along_rows(outer, middle, logarithm, x, y);
  for (std::int64_t i = 0; i < outer; ++i)
    down_columns(middle, inner, logarithm, x + i * middle * inner, y + i * middle * inner);
}

void along_float(std::int64_t outer, std::int64_t middle, std::int64_t inner, bool logarithm,
                 const float* x, float* y) {
  along(outer, middle, inner, logarithm, x, y);
}

void along_double(std::int64_t outer, std::int64_t middle, std::int64_t inner, bool logarithm,
                  const double* x, double* y) {
  along(outer, middle, inner, logarithm, x, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardlab::cpu {
namespace {
HWY_EXPORT(along_float);
HWY_EXPORT(along_double);
}  // namespace

template <typename T>
void softmax(const Call& call, Tools&) {
  const auto& op = *static_cast<const Softmax*>(call.op);
  const View& x = *call.inputs[0];
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  for (int d = 0; d < op.dim(); ++d) outer *= x.shape[d];
  for (int d = op.dim() + 1; d < x.shape.ndim(); ++d) inner *= x.shape[d];
  pick<T>(HWY_DYNAMIC_DISPATCH(along_float), HWY_DYNAMIC_DISPATCH(along_double))(
      outer, x.shape[op.dim()], inner, op.logarithm(), x.as<T>(), call.outputs[0]->as<T>());
}

template void softmax<float>(const Call&, Tools&);
template void softmax<double>(const Call&, Tools&);

}  // namespace shardlab::cpu
#endif
