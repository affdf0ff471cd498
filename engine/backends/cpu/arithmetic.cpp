#include "engine/ops/arithmetic.h"

#include "engine/backends/cpu/kernels.h"
#include "engine/backends/cpu/loops.h"
#include "engine/backends/cpu/pick.h"

#ifndef SHARDLAB_BACKENDS_CPU_ARITHMETIC_ONCE
#define SHARDLAB_BACKENDS_CPU_ARITHMETIC_ONCE
namespace shardlab::cpu {
enum class Arithmetic : std::uint8_t { add, subtract, multiply, divide };
}
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backends/cpu/arithmetic.cpp"
#include <hwy/foreach_target.h>
// Highway needs this order.
#include <hwy/highway.h>

#include "engine/backends/cpu/map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct Sum {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Add(a, b);
  }
};

struct Difference {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Sub(a, b);
  }
};

struct Product {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Mul(a, b);
  }
};

struct Quotient {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D, V a, V b) const {
    return hn::Div(a, b);
  }
};

template <typename T>
struct Times {
  T factor;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Mul(x, hn::Set(d, factor));
  }
};

template <typename T>
struct Plus {
  T term;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Add(x, hn::Set(d, term));
  }
};

template <typename T>
void binary(Arithmetic kind, const Loop<3>& loop, const T* a, const T* b, T* out) {
  switch (kind) {
    case Arithmetic::add:
      return map_loop(loop, Sum{}, a, b, out);
    case Arithmetic::subtract:
      return map_loop(loop, Difference{}, a, b, out);
    case Arithmetic::multiply:
      return map_loop(loop, Product{}, a, b, out);
    case Arithmetic::divide:
      return map_loop(loop, Quotient{}, a, b, out);
  }
}

void binary_float(Arithmetic kind, const Loop<3>& loop, const float* a, const float* b,
                  float* out) {
  binary(kind, loop, a, b, out);
}

void binary_double(Arithmetic kind, const Loop<3>& loop, const double* a, const double* b,
                   double* out) {
  binary(kind, loop, a, b, out);
}

void scale_float(const Loop<2>& loop, double factor, const float* x, float* out) {
  map_loop(loop, Times<float>{static_cast<float>(factor)}, x, out);
}

void scale_double(const Loop<2>& loop, double factor, const double* x, double* out) {
  map_loop(loop, Times<double>{factor}, x, out);
}

void shift_float(const Loop<2>& loop, double term, const float* x, float* out) {
  map_loop(loop, Plus<float>{static_cast<float>(term)}, x, out);
}

void shift_double(const Loop<2>& loop, double term, const double* x, double* out) {
  map_loop(loop, Plus<double>{term}, x, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardlab::cpu {
namespace {
HWY_EXPORT(binary_float);
HWY_EXPORT(binary_double);
HWY_EXPORT(scale_float);
HWY_EXPORT(scale_double);
HWY_EXPORT(shift_float);
HWY_EXPORT(shift_double);

template <typename T>
void run_binary(Arithmetic kind, const Call& call) {
  const View& a = *call.inputs[0];
  const View& b = *call.inputs[1];
  const View& out = *call.outputs[0];
  pick<T>(HWY_DYNAMIC_DISPATCH(binary_float), HWY_DYNAMIC_DISPATCH(binary_double))(
      kind, loop_over(a, b, out), a.as<T>(), b.as<T>(), out.as<T>());
}

}  // namespace

template <typename T>
void add(const Call& call, Tools&) {
  run_binary<T>(Arithmetic::add, call);
}

template <typename T>
void subtract(const Call& call, Tools&) {
  run_binary<T>(Arithmetic::subtract, call);
}

template <typename T>
void multiply(const Call& call, Tools&) {
  run_binary<T>(Arithmetic::multiply, call);
}

template <typename T>
void divide(const Call& call, Tools&) {
  run_binary<T>(Arithmetic::divide, call);
}

template <typename T>
void scale(const Call& call, Tools&) {
  const View& x = *call.inputs[0];
  const View& out = *call.outputs[0];
  pick<T>(HWY_DYNAMIC_DISPATCH(scale_float), HWY_DYNAMIC_DISPATCH(scale_double))(
      loop_over(x, out), static_cast<const Scale*>(call.op)->factor(), x.as<T>(), out.as<T>());
}

template <typename T>
void shift(const Call& call, Tools&) {
  const View& x = *call.inputs[0];
  const View& out = *call.outputs[0];
  pick<T>(HWY_DYNAMIC_DISPATCH(shift_float), HWY_DYNAMIC_DISPATCH(shift_double))(
      loop_over(x, out), static_cast<const Shift*>(call.op)->term(), x.as<T>(), out.as<T>());
}

template void add<float>(const Call&, Tools&);
template void add<double>(const Call&, Tools&);
template void subtract<float>(const Call&, Tools&);
template void subtract<double>(const Call&, Tools&);
template void multiply<float>(const Call&, Tools&);
template void multiply<double>(const Call&, Tools&);
template void divide<float>(const Call&, Tools&);
template void divide<double>(const Call&, Tools&);
template void scale<float>(const Call&, Tools&);
template void scale<double>(const Call&, Tools&);
template void shift<float>(const Call&, Tools&);
template void shift<double>(const Call&, Tools&);

}  // namespace shardlab::cpu
#endif
