// Included once for every instruction set, hence this guard.
#if defined(SHARDLAB_BACKENDS_CPU_FUNCTIONS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDLAB_BACKENDS_CPU_FUNCTIONS_INL_H
#undef SHARDLAB_BACKENDS_CPU_FUNCTIONS_INL_H
#else
#define SHARDLAB_BACKENDS_CPU_FUNCTIONS_INL_H
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "engine/backends/cpu/exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Scalar f of every lane.
template <class D, class F, class V = hn::Vec<D>>
HWY_INLINE V each_lane(D d, V x, F f) {
  using T = hn::TFromD<D>;
  HWY_ALIGN T lanes[hn::MaxLanes(d)];
  hn::Store(x, d, lanes);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = f(lanes[i]);
  return hn::Load(d, lanes);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V number(D d, double value) {
  return hn::Set(d, static_cast<hn::TFromD<D>>(value));
}

/// 1 / x. Two instructions after an estimate take half as long as a division of 16 lanes.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V reciprocal(D d, V x) {
  if constexpr (HWY_TARGET <= HWY_AVX3 && sizeof(hn::TFromD<D>) == 4) {
    const V r = hn::ApproximateReciprocal(x);
    return hn::Mul(r, hn::NegMulAdd(x, r, number(d, 2)));
  } else {
    return hn::Div(number(d, 1), x);
  }
}

/// The normal distribution function.
///
/// Source   float: 1/2 + z P(z^2) / Q(z^2), minimax up to 5.6 by our own fit, 1e-8.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V normal_below(D d, V x) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    return each_lane(d, x, [](double lane) { return 0.5 * std::erfc(-0.7071067811865476 * lane); });
  } else {
    const V z = hn::Clamp(x, hn::Set(d, -5.6f), hn::Set(d, 5.6f));
    const V s = hn::Mul(z, z);
    V p = hn::Set(d, 0x1.7c5feep-26f);
    p = hn::MulAdd(p, s, hn::Set(d, 0x1.aa76fap-18f));
    p = hn::MulAdd(p, s, hn::Set(d, 0x1.6c7918p-13f));
    p = hn::MulAdd(p, s, hn::Set(d, 0x1.3478f2p-8f));
    p = hn::MulAdd(p, s, hn::Set(d, 0x1.19936ap-5f));
    p = hn::MulAdd(p, s, hn::Set(d, 0x1.988450p-2f));
    V q = hn::Set(d, 0x1.3cbd5cp-20f);
    q = hn::MulAdd(q, s, hn::Set(d, 0x1.3ae4d6p-14f));
    q = hn::MulAdd(q, s, hn::Set(d, 0x1.f5655ap-10f));
    q = hn::MulAdd(q, s, hn::Set(d, 0x1.da1cbep-6f));
    q = hn::MulAdd(q, s, hn::Set(d, 0x1.02e436p-2f));
    q = hn::MulAdd(q, s, hn::Set(d, 1.0f));
    const V below = hn::MulAdd(hn::Mul(z, p), reciprocal(d, q), hn::Set(d, 0.5f));
    return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -5.5f)), below);
  }
}

/// The normal density.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V normal_density(D d, V x) {
  return hn::Mul(number(d, 0.3989422804014327),
                 exp_bounded(d, hn::Mul(hn::Mul(x, x), number(d, -0.5))));
}

/// s = 1 / (1 + e^-x), its slope s (1 - s), and 1 - 2 s; nothing cancels far from 0.
template <class V>
struct Logistic {
  V s, slope, fall;
};

template <class D, class V = hn::Vec<D>>
HWY_INLINE Logistic<V> logistic(D d, V x) {
  const V one = number(d, 1);
  const V e = exp_bounded(d, hn::Neg(hn::Abs(x)));
  const V r = reciprocal(d, hn::Add(one, e));
  const auto below = hn::Lt(x, hn::Zero(d));
  const V fall = hn::Mul(hn::Sub(one, e), r);
  return {hn::Mul(r, hn::IfThenElse(below, e, one)), hn::Mul(hn::Mul(r, r), e),
          hn::IfThenElse(below, fall, hn::Neg(fall))};
}

/// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2; good for e^r - 1, which asks more than e^r does.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_minus_one_remainder(D d, V r) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) return exp_remainder(d, r);
  V p = number(d, 1.0 / 5040);
  p = hn::MulAdd(p, r, number(d, 1.0 / 720));
  p = hn::MulAdd(p, r, number(d, 1.0 / 120));
  p = hn::MulAdd(p, r, number(d, 1.0 / 24));
  p = hn::MulAdd(p, r, number(d, 1.0 / 6));
  return hn::MulAdd(p, r, number(d, 0.5));
}

/// e^x - 1 for x up to 0; small results keep their digits. -1 below -40.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_minus_one(D d, V x) {
  using T = hn::TFromD<D>;
  constexpr int mantissa_bits = std::numeric_limits<T>::digits - 1;
  const hn::RebindToSigned<D> as_int;
  const V one = number(d, 1);
  const V bounded = hn::Max(number(d, -40), x);
  // As in exp_bounded: the nearest integer stays in the low bits.
  const V magic = hn::Set(d, T(1.5) * static_cast<T>(std::int64_t{1} << mantissa_bits));
  const V shifted = hn::MulAdd(bounded, number(d, 1.4426950408889634), magic);
  const V exponent = hn::Sub(shifted, magic);
  constexpr bool single = sizeof(T) == 4;
  V r = hn::NegMulAdd(exponent, number(d, single ? 0x1.63p-1 : 0x1.62e42feep-1), bounded);
  r = hn::NegMulAdd(exponent, number(d, single ? -2.12194440054690583e-4 : 1.90821492927058770e-10),
                    r);
  const V scale =
      hn::BitCast(d, hn::Add(hn::BitCast(as_int, one),
                             hn::ShiftLeft<mantissa_bits>(hn::BitCast(as_int, shifted))));
  const V power = hn::MulAdd(hn::Mul(r, r), exp_minus_one_remainder(d, r), r);
  return hn::MulAdd(scale, power, hn::Sub(scale, one));
}

}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu
HWY_AFTER_NAMESPACE();

#endif
