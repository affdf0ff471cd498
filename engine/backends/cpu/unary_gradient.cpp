#include "engine/backends/cpu/kernels.h"
#include "engine/backends/cpu/loops.h"
#include "engine/backends/cpu/pick.h"
#include "engine/ops/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backends/cpu/unary_gradient.cpp"
#include <hwy/foreach_target.h>
// Highway needs this order.
#include <hwy/highway.h>

#include "engine/backends/cpu/activations-inl.h"
#include "engine/backends/cpu/map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class F>
struct FirstTimes {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V g, V x) const {
    return hn::Mul(g, F::first(d, x));
  }
};

template <class F>
struct SecondTimes {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V g, V x) const {
    return hn::Mul(g, F::second(d, x));
  }
};

template <template <class> class Derivative, typename T>
void derivatives(Function function, const Loop<3>& loop, const T* g, const T* x, T* out) {
  switch (function) {
    case Function::gelu_erf:
      return map_loop(loop, Derivative<GeluErf>{}, g, x, out);
    case Function::gelu_tanh:
      return map_loop(loop, Derivative<GeluTanh>{}, g, x, out);
    case Function::tanh:
      return map_loop(loop, Derivative<Tanh>{}, g, x, out);
    case Function::relu:
      return map_loop(loop, Derivative<Relu>{}, g, x, out);
    case Function::silu:
      return map_loop(loop, Derivative<Silu>{}, g, x, out);
    case Function::sigmoid:
      return map_loop(loop, Derivative<Sigmoid>{}, g, x, out);
    case Function::exp:
      return map_loop(loop, Derivative<Exp>{}, g, x, out);
    case Function::log:
      return map_loop(loop, Derivative<Log>{}, g, x, out);
  }
}

void first_float(Function function, const Loop<3>& loop, const float* g, const float* x,
                 float* out) {
  derivatives<FirstTimes>(function, loop, g, x, out);
}

void first_double(Function function, const Loop<3>& loop, const double* g, const double* x,
                  double* out) {
  derivatives<FirstTimes>(function, loop, g, x, out);
}

void second_float(Function function, const Loop<3>& loop, const float* g, const float* x,
                  float* out) {
  derivatives<SecondTimes>(function, loop, g, x, out);
}

void second_double(Function function, const Loop<3>& loop, const double* g, const double* x,
                   double* out) {
  derivatives<SecondTimes>(function, loop, g, x, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardlab::cpu {
namespace {
HWY_EXPORT(first_float);
HWY_EXPORT(first_double);
HWY_EXPORT(second_float);
HWY_EXPORT(second_double);
}  // namespace

template <typename T>
void unary_gradient(const Call& call, Tools&) {
  const auto& op = *static_cast<const UnaryGradient*>(call.op);
  const View& g = *call.inputs[0];
  const View& x = *call.inputs[1];
  const View& out = *call.outputs[0];
  const auto first = pick<T>(HWY_DYNAMIC_DISPATCH(first_float), HWY_DYNAMIC_DISPATCH(first_double));
  const auto second =
      pick<T>(HWY_DYNAMIC_DISPATCH(second_float), HWY_DYNAMIC_DISPATCH(second_double));
  (op.order() == 1 ? first : second)(op.function(), loop_over(g, x, out), g.as<T>(), x.as<T>(),
                                     out.as<T>());
}

template void unary_gradient<float>(const Call&, Tools&);
template void unary_gradient<double>(const Call&, Tools&);

}  // namespace shardlab::cpu
#endif
