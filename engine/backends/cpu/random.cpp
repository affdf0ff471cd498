#include "engine/ops/random.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <type_traits>

#include "engine/backends/cpu/kernels.h"
#include "engine/core/check.h"

#ifndef SHARDLAB_BACKENDS_CPU_RANDOM_ONCE
#define SHARDLAB_BACKENDS_CPU_RANDOM_ONCE
namespace shardlab::cpu {
/// Values that are drawn at a time.
inline constexpr std::int64_t random_piece = 256;
}  // namespace shardlab::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backends/cpu/random.cpp"
#include <hwy/foreach_target.h>
// Highway needs this order.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "engine/backends/cpu/map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// sum of (-1)^k x^(2k) / (2k + first)! for |x| <= pi / 4: cos for first = 0, sin(x) / x for 1.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V alternating_series(D d, V square, int first) {
  constexpr int terms = 9;
  double factorial = 1;
  for (int i = 2; i <= 2 * (terms - 1) + first; ++i) factorial *= i;
  double coefficient = ((terms - 1) % 2 == 0 ? 1 : -1) / factorial;
  V sum = hn::Set(d, coefficient);
  for (int k = terms - 1; k > 0; --k) {
    const int power = 2 * k + first;
    coefficient *= -power * (power - 1);
    sum = hn::MulAdd(sum, square, hn::Set(d, coefficient));
  }
  return sum;
}

/// cos(2 pi turn) for turns of 32 bits from 0 to 1; the quarter is found without rounding.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V cosine_of_turn(D d, V turn) {
  const V quarter = hn::Round(hn::Mul(turn, hn::Set(d, 4.0)));
  const V rest = hn::NegMulAdd(quarter, hn::Set(d, 0.25), turn);
  const V angle = hn::Mul(rest, hn::Set(d, 2 * std::numbers::pi));
  const V square = hn::Mul(angle, angle);
  const V cosine = alternating_series(d, square, 0);
  const V sine = hn::Mul(angle, alternating_series(d, square, 1));
  // Quarters 0 to 4 give cos, -sin, -cos, sin, cos.
  const V one = hn::Set(d, 1.0);
  const V two = hn::Set(d, 2.0);
  const V three = hn::Set(d, 3.0);
  const auto odd = hn::Or(hn::Eq(quarter, one), hn::Eq(quarter, three));
  const auto negative = hn::Or(hn::Eq(quarter, one), hn::Eq(quarter, two));
  const V value = hn::IfThenElse(odd, sine, cosine);
  return hn::IfThenElse(negative, hn::Neg(value), value);
}

/// Box and Muller's normal value.
struct Normal {
  double deviation;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V radius, V turn) const {
    const V length = hn::Sqrt(hn::Mul(hn::Set(d, -2.0), hn::Log(d, radius)));
    return hn::Mul(hn::Mul(length, cosine_of_turn(d, turn)), hn::Set(d, deviation));
  }
};

void normal_values(const Random::Options& options, const std::uint64_t* bits, std::int64_t count,
                   double* out) {
  HWY_ALIGN double radius[random_piece];
  HWY_ALIGN double turn[random_piece];
  for (std::int64_t i = 0; i < count; ++i) {
    radius[i] = (static_cast<double>(bits[i] >> 32) + 1) * 0x1p-32;
    turn[i] = static_cast<double>(bits[i] & 0xffffffffU) * 0x1p-32;
  }
  map(count, Normal{options.scale}, out, radius, turn);
}

/// Floats in [0, bound).
void uniform_values(const Random::Options& options, const std::uint64_t* bits, std::int64_t count,
                    double* out) {
  const double bound = options.scale;
  const auto nearest = static_cast<float>(bound);
  const float last = static_cast<double>(nearest) < bound ? nearest : std::nextafter(nearest, 0.0F);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(static_cast<double>(bits[i] >> 40) * 0x1p-24 * bound);
    out[i] = static_cast<double>(std::min(value, last));
  }
}

void whole_values(const Random::Options& options, const std::uint64_t* bits, std::int64_t count,
                  double* out) {
  const double bound = options.scale;
  const double last = std::ceil(bound) - 1;
  for (std::int64_t i = 0; i < count; ++i)
    out[i] = std::min(std::floor(static_cast<double>(bits[i] >> 11) * 0x1p-53 * bound), last);
}

/// Values of at most `random_piece` indices.
void draw(const Random::Options& options, std::uint64_t index, std::int64_t count, double* out) {
  std::uint64_t bits[random_piece];
  for (std::int64_t i = 0; i < count; ++i)
    bits[i] = random_bits(options.seed, options.call, index + static_cast<std::uint64_t>(i));
  switch (options.kind) {
    case Random::Kind::normal:
      return normal_values(options, bits, count, out);
    case Random::Kind::uniform:
      return uniform_values(options, bits, count, out);
    case Random::Kind::integer:
      return whole_values(options, bits, count, out);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardlab::cpu {
namespace {
HWY_EXPORT(draw);

/// A run of indices; all but whole numbers are rounded to float, whatever the dtype.
template <typename T>
void draw_run(const Random::Options& options, std::uint64_t index, std::int64_t count, T* out) {
  using Rounded = std::conditional_t<std::is_floating_point_v<T>, float, T>;
  double drawn[random_piece];
  const auto draw = HWY_DYNAMIC_DISPATCH(draw);
  for (std::int64_t done = 0; done < count; done += random_piece) {
    const std::int64_t here = std::min(random_piece, count - done);
    draw(options, index + static_cast<std::uint64_t>(done), here, drawn);
    for (std::int64_t i = 0; i < here; ++i)
      out[done + i] = static_cast<T>(static_cast<Rounded>(drawn[i]));
  }
}

}  // namespace

template <typename T>
void random(const Call& call, Tools&) {
  const Random::Options& options = static_cast<const Random*>(call.op)->options();
  if (std::is_same_v<T, std::int64_t> && options.kind != Random::Kind::integer)
    fail(Fault::unsupported, "cpu: random numbers of int64 that are not whole");
  const View& out = *call.outputs[0];
  const std::int64_t count = out.shape.count();
  const Strides whole = dense_strides(call.whole);
  // Indices run on through inner dims that are whole here.
  int inner = out.shape.ndim();
  std::int64_t run = 1;
  while (inner > 0 && run == whole[inner - 1]) run *= out.shape[--inner];
  Shape at = call.start;
  for (std::int64_t done = 0; done < count; done += run) {
    std::int64_t index = 0;
    for (int d = 0; d < at.ndim(); ++d) index += at[d] * whole[d];
    draw_run(options, static_cast<std::uint64_t>(index), run, out.as<T>() + done);
    for (int d = inner - 1; d >= 0; --d) {
      if (++at[d] < call.start[d] + out.shape[d]) break;
      at[d] = call.start[d];
    }
  }
}

template void random<float>(const Call&, Tools&);
template void random<double>(const Call&, Tools&);
template void random<std::int64_t>(const Call&, Tools&);

}  // namespace shardlab::cpu
#endif
