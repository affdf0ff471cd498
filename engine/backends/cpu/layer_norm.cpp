#include "engine/ops/layer_norm.h"

#include <algorithm>
#include <cmath>

#include "engine/backends/cpu/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backends/cpu/layer_norm.cpp"
#include <hwy/foreach_target.h>
// Highway needs this order.
#include <hwy/highway.h>

#include "engine/backends/cpu/map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D, class V = hn::Vec<D>>
HWY_INLINE hn::TFromD<D> total(D d, V v) {
  return hn::GetLane(hn::SumOfLanes(d, v));
}

template <typename T>
HWY_INLINE T sum_of(const T* x, std::int64_t width) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto a = hn::Zero(d);
  auto b = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + 2 * lanes <= width; i += 2 * lanes) {
    a = hn::Add(a, hn::LoadU(d, x + i));
    b = hn::Add(b, hn::LoadU(d, x + i + lanes));
  }
  for (; i + lanes <= width; i += lanes) a = hn::Add(a, hn::LoadU(d, x + i));
  if (i < width) b = hn::Add(b, load_some(d, x + i, width - i));
  return total(d, hn::Add(a, b));
}

/// A mean that a T cannot hold exactly where elements differ little, and 1 / deviation.
template <typename T>
struct Moments {
  T mean;
  T rest;  ///< mean + rest is nearer to the mean.
  T scale;
};

/// Sums of x - mean and of its square.
template <typename T>
struct Spread {
  T first, second;
};

template <typename T>
HWY_INLINE Spread<T> spread_of(const T* x, std::int64_t width, T mean) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto middle = hn::Set(d, mean);
  auto first = hn::Zero(d);
  auto second = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + lanes <= width; i += lanes) {
    const auto difference = hn::Sub(hn::LoadU(d, x + i), middle);
    first = hn::Add(first, difference);
    second = hn::MulAdd(difference, difference, second);
  }
  if (i < width) {
    const auto difference = hn::Sub(load_some(d, x + i, width - i, mean), middle);
    first = hn::Add(first, difference);
    second = hn::MulAdd(difference, difference, second);
  }
  return {total(d, first), total(d, second)};
}

template <typename T>
HWY_INLINE Moments<T> moments_of(const T* x, std::int64_t width, T epsilon) {
  const T part = 1 / static_cast<T>(std::max<std::int64_t>(width, 1));
  const T mean = sum_of(x, width) * part;
  const Spread<T> spread = spread_of(x, width, mean);
  const T rest = spread.first * part;
  const T variance = std::max(T(0), spread.second * part - rest * rest);
  return {mean, rest, 1 / std::sqrt(variance + epsilon)};
}

template <typename T>
struct Normalise {
  Moments<T> by;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x, V weight, V bias) const {
    const V centred = hn::Sub(hn::Sub(x, hn::Set(d, by.mean)), hn::Set(d, by.rest));
    return hn::MulAdd(hn::Mul(centred, hn::Set(d, by.scale)), weight, bias);
  }
};

template <typename T>
void forward(std::int64_t rows, std::int64_t width, T epsilon, const T* x, const T* weight,
             const T* bias, T* y, T* mean, T* scale) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* from = x + row * width;
    const Moments<T> moments = moments_of(from, width, epsilon);
    mean[row] = moments.mean + moments.rest;
    scale[row] = moments.scale;
    map(width, Normalise<T>{moments}, y + row * width, from, weight, bias);
  }
}

/// Sums over a row of h = g weight, of h (x - mean) and of x - mean.
template <typename T>
struct RowSums {
  T h, product, centred;
};

template <typename T>
HWY_INLINE RowSums<T> row_sums(std::int64_t width, const T* x, const T* weight, const T* g,
                               T mean) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto middle = hn::Set(d, mean);
  auto h_sum = hn::Zero(d);
  auto product = hn::Zero(d);
  auto centred = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + lanes <= width; i += lanes) {
    const auto h = hn::Mul(hn::LoadU(d, g + i), hn::LoadU(d, weight + i));
    const auto difference = hn::Sub(hn::LoadU(d, x + i), middle);
    h_sum = hn::Add(h_sum, h);
    product = hn::MulAdd(h, difference, product);
    centred = hn::Add(centred, difference);
  }
  if (i < width) {
    const std::int64_t rest = width - i;
    const auto h = hn::Mul(load_some(d, g + i, rest), load_some(d, weight + i, rest));
    const auto difference = hn::Sub(load_some(d, x + i, rest, mean), middle);
    h_sum = hn::Add(h_sum, h);
    product = hn::MulAdd(h, difference, product);
    centred = hn::Add(centred, difference);
  }
  return {total(d, h_sum), total(d, product), total(d, centred)};
}

/// dx = scale (h - mean of h - normalised x times the mean of h times normalised x).
template <typename T>
struct InputGradient {
  Moments<T> by;
  T shift, slope;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x, V weight, V g) const {
    const V centred = hn::Sub(hn::Sub(x, hn::Set(d, by.mean)), hn::Set(d, by.rest));
    const V h = hn::MulSub(g, weight, hn::Set(d, shift));
    return hn::Mul(hn::NegMulAdd(centred, hn::Set(d, slope), h), hn::Set(d, by.scale));
  }
};

/// Adds a block of rows to the gradients of weight and bias.
template <class D, typename T>
HWY_INLINE void add_columns(D d, std::int64_t rows, std::int64_t width, const Moments<T>* moments,
                            const T* x, const T* g, T* weight_g, T* bias_g) {
  auto weight_sum = hn::Zero(d);
  auto bias_sum = hn::Zero(d);
  for (std::int64_t row = 0; row < rows; ++row) {
    const Moments<T>& by = moments[row];
    const auto gradient = hn::LoadU(d, g + row * width);
    const auto centred = hn::Sub(hn::Sub(hn::LoadU(d, x + row * width), hn::Set(d, by.mean)),
                                 hn::Set(d, by.rest));
    weight_sum = hn::MulAdd(gradient, hn::Mul(centred, hn::Set(d, by.scale)), weight_sum);
    bias_sum = hn::Add(bias_sum, gradient);
  }
  hn::StoreU(hn::Add(hn::LoadU(d, weight_g), weight_sum), d, weight_g);
  hn::StoreU(hn::Add(hn::LoadU(d, bias_g), bias_sum), d, bias_g);
}

template <typename T>
void backward(std::int64_t rows, std::int64_t width, const T* x, const T* weight, const T* mean,
              const T* scale, const T* g, T* dx, T* weight_g, T* bias_g) {
  // As many rows as stay in the second-level cache until their columns are added up.
  constexpr std::int64_t block = 32;
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> single;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const T part = 1 / static_cast<T>(std::max<std::int64_t>(width, 1));
  std::fill(weight_g, weight_g + width, T(0));
  std::fill(bias_g, bias_g + width, T(0));
  for (std::int64_t start = 0; start < rows; start += block) {
    const std::int64_t count = std::min(block, rows - start);
    Moments<T> moments[block];
    for (std::int64_t row = start; row < start + count; ++row) {
      const std::int64_t at = row * width;
      const RowSums<T> sums = row_sums(width, x + at, weight, g + at, mean[row]);
      const Moments<T> by{mean[row], sums.centred * part, scale[row]};
      const T slope = by.scale * by.scale * part * (sums.product - by.rest * sums.h);
      map(width, InputGradient<T>{by, sums.h * part, slope}, dx + at, x + at, weight, g + at);
      moments[row - start] = by;
    }
    const std::int64_t at = start * width;
    std::int64_t i = 0;
    for (; i + lanes <= width; i += lanes)
      add_columns(d, count, width, moments, x + at + i, g + at + i, weight_g + i, bias_g + i);
    for (; i < width; ++i)
      add_columns(single, count, width, moments, x + at + i, g + at + i, weight_g + i, bias_g + i);
  }
}

void forward_float(std::int64_t rows, std::int64_t width, float epsilon, const float* x,
                   const float* weight, const float* bias, float* y, float* mean, float* scale) {
  forward(rows, width, epsilon, x, weight, bias, y, mean, scale);
}

void forward_double(std::int64_t rows, std::int64_t width, double epsilon, const double* x,
                    const double* weight, const double* bias, double* y, double* mean,
                    double* scale) {
  forward(rows, width, epsilon, x, weight, bias, y, mean, scale);
}

void backward_float(std::int64_t rows, std::int64_t width, const float* x, const float* weight,
                    const float* mean, const float* scale, const float* g, float* dx,
                    float* weight_g, float* bias_g) {
  backward(rows, width, x, weight, mean, scale, g, dx, weight_g, bias_g);
}

void backward_double(std::int64_t rows, std::int64_t width, const double* x, const double* weight,
                     const double* mean, const double* scale, const double* g, double* dx,
                     double* weight_g, double* bias_g) {
  backward(rows, width, x, weight, mean, scale, g, dx, weight_g, bias_g);
}

}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardlab::cpu {
namespace {
HWY_EXPORT(forward_float);
HWY_EXPORT(forward_double);
HWY_EXPORT(backward_float);
HWY_EXPORT(backward_double);
}  // namespace

template <typename T>
void layer_norm(const Call& call, Tools&) {
  const auto in = [&](int i) { return static_cast<const T*>(call.inputs[i]->data); };
  const auto out = [&](int o) { return call.outputs[o]->as<T>(); };
  const std::int64_t rows = call.outputs[1]->shape.count();
  const std::int64_t width = call.inputs[1]->shape[0];
  const auto epsilon = static_cast<T>(static_cast<const LayerNorm*>(call.op)->epsilon());
  if constexpr (std::is_same_v<T, float>)
    HWY_DYNAMIC_DISPATCH(forward_float)
    (rows, width, epsilon, in(0), in(1), in(2), out(0), out(1), out(2));
  else
    HWY_DYNAMIC_DISPATCH(forward_double)
    (rows, width, epsilon, in(0), in(1), in(2), out(0), out(1), out(2));
}

template <typename T>
void layer_norm_gradient(const Call& call, Tools&) {
  const auto in = [&](int i) { return static_cast<const T*>(call.inputs[i]->data); };
  const auto out = [&](int o) { return call.outputs[o]->as<T>(); };
  const std::int64_t rows = call.inputs[2]->shape.count();
  const std::int64_t width = call.inputs[1]->shape[0];
  if constexpr (std::is_same_v<T, float>)
    HWY_DYNAMIC_DISPATCH(backward_float)
    (rows, width, in(0), in(1), in(2), in(3), in(4), out(0), out(1), out(2));
  else
    HWY_DYNAMIC_DISPATCH(backward_double)
    (rows, width, in(0), in(1), in(2), in(3), in(4), out(0), out(1), out(2));
}

template void layer_norm<float>(const Call&, Tools&);
template void layer_norm<double>(const Call&, Tools&);
template void layer_norm_gradient<float>(const Call&, Tools&);
template void layer_norm_gradient<double>(const Call&, Tools&);

}  // namespace shardlab::cpu
#endif
