// Included once for every instruction set, hence this guard.
#if defined(SHARDLAB_BACKENDS_CPU_ACTIVATIONS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDLAB_BACKENDS_CPU_ACTIVATIONS_INL_H
#undef SHARDLAB_BACKENDS_CPU_ACTIVATIONS_INL_H
#else
#define SHARDLAB_BACKENDS_CPU_ACTIVATIONS_INL_H
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <limits>

#include "engine/backends/cpu/functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Each has the value, the first and the second derivative of a Function.
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
    const V fall = exp_minus_one(d, hn::Mul(hn::Abs(x), number(d, -2)));
    const V t = hn::Mul(hn::Neg(fall), reciprocal(d, hn::Add(fall, number(d, 2))));
    return hn::IfThenElse(hn::Eq(x, x), hn::CopySign(t, x), x);
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
