// Included once for every instruction set, hence this guard.
#if defined(SHARDLAB_BACKENDS_CPU_FUNCTIONS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDLAB_BACKENDS_CPU_FUNCTIONS_INL_H
#undef SHARDLAB_BACKENDS_CPU_FUNCTIONS_INL_H
#else
#define SHARDLAB_BACKENDS_CPU_FUNCTIONS_INL_H
#endif

#include <hwy/contrib/math/math-inl.h>
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
    const V below = hn::Add(hn::Set(d, 0.5f), hn::Div(hn::Mul(z, p), q));
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
  const V r = hn::Div(one, hn::Add(one, e));
  const auto below = hn::Lt(x, hn::Zero(d));
  const V fall = hn::Mul(hn::Sub(one, e), r);
  return {hn::Mul(r, hn::IfThenElse(below, e, one)), hn::Mul(hn::Mul(r, r), e),
          hn::IfThenElse(below, fall, hn::Neg(fall))};
}

/// Value, first and second derivative of each Function.
struct GeluErf {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V value(D d, V x) {
    return hn::Mul(x, normal_below(d, x));
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V first(D d, V x) {
    return hn::MulAdd(x, normal_density(d, x), normal_below(d, x));
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V second(D d, V x) {
    return hn::Mul(normal_density(d, x), hn::NegMulAdd(x, x, number(d, 2)));
  }
};

/// x sigmoid(w) with w = 2 sqrt(2 / pi) (x + 0.044715 x^3), which is x (1 + tanh(w / 2)) / 2.
struct GeluTanh {
  static constexpr double linear = 1.5957691216057308;
  static constexpr double cubic = linear * 0.044715;

  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE Logistic<V> gate(D d, V x) {
    const V slope = hn::MulAdd(hn::Mul(x, x), number(d, cubic), number(d, linear));
    return logistic(d, hn::Mul(x, slope));
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V inner_slope(D d, V x) {
    return hn::MulAdd(hn::Mul(x, x), number(d, 3 * cubic), number(d, linear));
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V value(D d, V x) {
    return hn::Mul(x, gate(d, x).s);
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V first(D d, V x) {
    const Logistic<V> at = gate(d, x);
    return hn::MulAdd(x, hn::Mul(at.slope, inner_slope(d, x)), at.s);
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V second(D d, V x) {
    const Logistic<V> at = gate(d, x);
    const V w1 = inner_slope(d, x);
    const V w2 = hn::Mul(x, number(d, 6 * cubic));
    const V bend = hn::MulAdd(at.fall, hn::Mul(w1, w1), w2);
    return hn::Mul(at.slope, hn::MulAdd(x, bend, hn::Add(w1, w1)));
  }
};

struct Tanh {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V value(D d, V x) {
    return hn::Tanh(d, x);
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V first(D d, V x) {
    const V t = value(d, x);
    return hn::NegMulAdd(t, t, number(d, 1));
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V second(D d, V x) {
    const V t = value(d, x);
    return hn::Mul(hn::Mul(t, number(d, -2)), hn::NegMulAdd(t, t, number(d, 1)));
  }
};

struct Relu {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V value(D d, V x) {
    return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V first(D d, V x) {
    return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), number(d, 1));
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V second(D d, V) {
    return hn::Zero(d);
  }
};

struct Sigmoid {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V value(D d, V x) {
    return logistic(d, x).s;
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V first(D d, V x) {
    return logistic(d, x).slope;
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V second(D d, V x) {
    const Logistic<V> at = logistic(d, x);
    return hn::Mul(at.slope, at.fall);
  }
};

struct Silu {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V value(D d, V x) {
    return hn::Mul(x, logistic(d, x).s);
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V first(D d, V x) {
    const Logistic<V> at = logistic(d, x);
    return hn::MulAdd(x, at.slope, at.s);
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V second(D d, V x) {
    const Logistic<V> at = logistic(d, x);
    return hn::Mul(at.slope, hn::MulAdd(x, at.fall, number(d, 2)));
  }
};

struct Exp {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V value(D d, V x) {
    return exp_any(d, x);
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V first(D d, V x) {
    return exp_any(d, x);
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V second(D d, V x) {
    return exp_any(d, x);
  }
};

struct Log {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V value(D d, V x) {
    using T = hn::TFromD<D>;
    const V infinite = hn::Set(d, std::numeric_limits<T>::infinity());
    V y = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinite), hn::Log(d, x));
    y = hn::IfThenElse(hn::Eq(x, infinite), infinite, y);
    return hn::IfThenElse(hn::Ge(x, hn::Zero(d)), y, hn::NaN(d));
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V first(D d, V x) {
    return hn::Div(number(d, 1), x);
  }
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V second(D d, V x) {
    return hn::Div(number(d, -1), hn::Mul(x, x));
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu
HWY_AFTER_NAMESPACE();

#endif
