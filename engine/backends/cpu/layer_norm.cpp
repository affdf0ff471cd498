#include "engine/ops/layer_norm.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "engine/backends/cpu/kernels.h"
#include "engine/backends/cpu/pick.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backends/cpu/layer_norm.cpp"
#include <hwy/foreach_target.h>
// Highway needs this order.
#include <hwy/highway.h>

#include "engine/backends/cpu/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A mean that a T cannot hold exactly where elements differ little, and 1 / deviation.
template <typename T>
struct Moments {
  T mean;
  T rest;  ///< mean + rest is nearer to the mean.
  T scale;
};

/// Sums x - mean and its square.
template <typename T>
struct Spread {
  T mean;
  [[nodiscard]] T nothing() const { return mean; }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE void operator()(D d, V* sums, V x) const {
    const V difference = hn::Sub(x, hn::Set(d, mean));
    sums[0] = hn::Add(sums[0], difference);
    sums[1] = hn::MulAdd(difference, difference, sums[1]);
  }
};

template <typename T>
HWY_INLINE Moments<T> moments_of(const T* x, std::int64_t width, T epsilon) {
  const T part = 1 / static_cast<T>(std::max<std::int64_t>(width, 1));
  const T mean = row_sum(width, x) * part;
  const auto [first, second] = row_sums<2>(width, Spread<T>{mean}, x);
  const T rest = first * part;
  const T variance = std::max(T(0), second * part - rest * rest);
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

/// Sums h = g weight, h (x - mean) and x - mean.
template <typename T>
struct Products {
  T mean;
  [[nodiscard]] T nothing() const { return mean; }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE void operator()(D d, V* sums, V x, V weight, V g) const {
    const V h = hn::Mul(g, weight);
    const V difference = hn::Sub(x, hn::Set(d, mean));
    sums[0] = hn::Add(sums[0], h);
    sums[1] = hn::MulAdd(h, difference, sums[1]);
    sums[2] = hn::Add(sums[2], difference);
  }
};

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

/// Adds a block of rows to the gradients of weight and bias, some vectors of columns at a time.
template <int vectors, class D, typename T>
HWY_INLINE void add_columns(D d, std::int64_t rows, std::int64_t width, const Moments<T>* moments,
                            const T* x, const T* g, T* weight_g, T* bias_g) {
  using V = hn::Vec<D>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V weight_sum[vectors];
  V bias_sum[vectors];
  for (int i = 0; i < vectors; ++i) weight_sum[i] = bias_sum[i] = hn::Zero(d);
  for (std::int64_t row = 0; row < rows; ++row) {
    const V mean = hn::Set(d, moments[row].mean);
    const V rest = hn::Set(d, moments[row].rest);
    const V scale = hn::Set(d, moments[row].scale);
#pragma GCC unroll 4
    for (int i = 0; i < vectors; ++i) {
      const V gradient = hn::LoadU(d, g + row * width + i * lanes);
      const V centred = hn::Sub(hn::Sub(hn::LoadU(d, x + row * width + i * lanes), mean), rest);
      weight_sum[i] = hn::MulAdd(gradient, hn::Mul(centred, scale), weight_sum[i]);
      bias_sum[i] = hn::Add(bias_sum[i], gradient);
    }
  }
  for (int i = 0; i < vectors; ++i) {
    T* const weight_at = weight_g + i * lanes;
    T* const bias_at = bias_g + i * lanes;
    hn::StoreU(hn::Add(hn::LoadU(d, weight_at), weight_sum[i]), d, weight_at);
    hn::StoreU(hn::Add(hn::LoadU(d, bias_at), bias_sum[i]), d, bias_at);
  }
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
      const auto [h, product, centred] =
          row_sums<3>(width, Products<T>{mean[row]}, x + at, weight, g + at);
      const Moments<T> by{mean[row], centred * part, scale[row]};
      const T slope = by.scale * by.scale * part * (product - by.rest * h);
      map(width, InputGradient<T>{by, h * part, slope}, dx + at, x + at, weight, g + at);
      moments[row - start] = by;
    }
    const std::int64_t at = start * width;
    std::int64_t i = 0;
    const auto add = [&](auto vectors, auto tag) HWY_ATTR {
      add_columns<decltype(vectors)::value>(tag, count, width, moments, x + at + i, g + at + i,
                                            weight_g + i, bias_g + i);
    };
    for (; i + 4 * lanes <= width; i += 4 * lanes) add(std::integral_constant<int, 4>{}, d);
    for (; i + lanes <= width; i += lanes) add(std::integral_constant<int, 1>{}, d);
    for (; i < width; ++i) add(std::integral_constant<int, 1>{}, single);
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
  pick<T>(HWY_DYNAMIC_DISPATCH(forward_float), HWY_DYNAMIC_DISPATCH(forward_double))(
      rows, width, epsilon, in(0), in(1), in(2), out(0), out(1), out(2));
}

template <typename T>
void layer_norm_gradient(const Call& call, Tools&) {
  const auto in = [&](int i) { return static_cast<const T*>(call.inputs[i]->data); };
  const auto out = [&](int o) { return call.outputs[o]->as<T>(); };
  const std::int64_t rows = call.inputs[2]->shape.count();
  const std::int64_t width = call.inputs[1]->shape[0];
  pick<T>(HWY_DYNAMIC_DISPATCH(backward_float), HWY_DYNAMIC_DISPATCH(backward_double))(
      rows, width, in(0), in(1), in(2), in(3), in(4), out(0), out(1), out(2));
}

template void layer_norm<float>(const Call&, Tools&);
template void layer_norm<double>(const Call&, Tools&);
template void layer_norm_gradient<float>(const Call&, Tools&);
template void layer_norm_gradient<double>(const Call&, Tools&);

}  // namespace shardlab::cpu
#endif
