// Included once for every instruction set, hence this guard.
#if defined(SHARDLAB_BACKENDS_CPU_EXP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDLAB_BACKENDS_CPU_EXP_INL_H
#undef SHARDLAB_BACKENDS_CPU_EXP_INL_H
#else
#define SHARDLAB_BACKENDS_CPU_EXP_INL_H
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Bounds between which e^x is a normal number.
template <typename T>
struct ExpRange {
  static constexpr bool single = std::is_same_v<T, float>;
  static constexpr T lowest = single ? T(-87.336544) : T(-708.396418532264);
  static constexpr T highest = single ? T(88.722839) : T(709.782712893384);
};

/// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2.
///
/// Source   float: minimax in the relative error of e^r, 1.1e-7. double: Taylor, 4e-18.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_remainder(D d, V r) {
  if constexpr (std::is_same_v<hn::TFromD<D>, float>) {
    V p = hn::Set(d, 0x1.106256p-7f);
    p = hn::MulAdd(p, r, hn::Set(d, 0x1.572a6cp-5f));
    p = hn::MulAdd(p, r, hn::Set(d, 0x1.5557b0p-3f));
    return hn::MulAdd(p, r, hn::Set(d, 0x1.fffdfcp-2f));
  } else {
    double coefficient = 1.0 / 6227020800.0;
    V p = hn::Set(d, coefficient);
    for (int power = 13; power > 2; --power) {
      coefficient *= power;
      p = hn::MulAdd(p, r, hn::Set(d, coefficient));
    }
    return p;
  }
}

/// e^x, and 0 below the lowest normal result; x must not be above ExpRange::highest.
///
/// Cost     12 vector instructions for float with AVX-512.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_bounded(D d, V x) {
  using T = hn::TFromD<D>;
  constexpr int mantissa_bits = std::numeric_limits<T>::digits - 1;
  const hn::RebindToSigned<D> as_int;
  // Adding 1.5 * 2^mantissa_bits leaves the nearest integer in the low bits.
  const V magic = hn::Set(d, T(1.5) * static_cast<T>(std::int64_t{1} << mantissa_bits));
  const V one = hn::Set(d, T(1));
  const V shifted = hn::MulAdd(x, hn::Set(d, T(1.4426950408889634)), magic);
  const V exponent = hn::Sub(shifted, magic);
  V r;
  if constexpr (std::is_same_v<T, float> && HWY_NATIVE_FMA) {
    r = hn::NegMulAdd(exponent, hn::Set(d, T(0.6931471805599453)), x);
  } else {
    // Without the exact product of a fused instruction, or for double, ln(2) comes in two pieces,
    // the first short enough for its product to be exact.
    constexpr T high = std::is_same_v<T, float> ? T(0x1.63p-1) : T(0x1.62e42feep-1);
    constexpr T low =
        std::is_same_v<T, float> ? T(-2.12194440054690583e-4) : T(1.90821492927058770e-10);
    r = hn::NegMulAdd(exponent, hn::Set(d, high), x);
    r = hn::NegMulAdd(exponent, hn::Set(d, low), r);
  }
  V power = hn::MulAdd(exp_remainder(d, r), r, one);
  power = hn::MulAdd(power, r, one);
  const auto scale = hn::ShiftLeft<mantissa_bits>(hn::BitCast(as_int, shifted));
  const V result = hn::BitCast(d, hn::Add(hn::BitCast(as_int, power), scale));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, ExpRange<T>::lowest)), result);
}

/// e^x for any x: 0 below the lowest normal result, infinite above the highest, NaN stays.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_any(D d, V x) {
  using T = hn::TFromD<D>;
  const V infinite = hn::Set(d, std::numeric_limits<T>::infinity());
  return hn::IfThenElse(hn::Gt(x, hn::Set(d, ExpRange<T>::highest)), infinite, exp_bounded(d, x));
}

}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu
HWY_AFTER_NAMESPACE();

#endif
