#include "engine/backends/cpu/kernels.h"
#include "engine/backends/cpu/loops.h"
#include "engine/backends/cpu/pick.h"
#include "engine/ops/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backends/cpu/unary.cpp"
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
struct Value {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    return F::value(d, x);
  }
};

template <typename T>
void values(Function function, const Loop<2>& loop, const T* x, T* out) {
  switch (function) {
    case Function::gelu_erf:
      return map_loop(loop, Value<GeluErf>{}, x, out);
    case Function::gelu_tanh:
      return map_loop(loop, Value<GeluTanh>{}, x, out);
    case Function::tanh:
      return map_loop(loop, Value<Tanh>{}, x, out);
    case Function::relu:
      return map_loop(loop, Value<Relu>{}, x, out);
    case Function::silu:
      return map_loop(loop, Value<Silu>{}, x, out);
    case Function::sigmoid:
      return map_loop(loop, Value<Sigmoid>{}, x, out);
    case Function::exp:
      return map_loop(loop, Value<Exp>{}, x, out);
    case Function::log:
      return map_loop(loop, Value<Log>{}, x, out);
  }
}

void values_float(Function function, const Loop<2>& loop, const float* x, float* out) {
  values(function, loop, x, out);
}

void values_double(Function function, const Loop<2>& loop, const double* x, double* out) {
  values(function, loop, x, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardlab::cpu {
namespace {
HWY_EXPORT(values_float);
HWY_EXPORT(values_double);
}  // namespace

template <typename T>
void unary(const Call& call, Tools&) {
  const View& x = *call.inputs[0];
  const View& out = *call.outputs[0];
  pick<T>(HWY_DYNAMIC_DISPATCH(values_float), HWY_DYNAMIC_DISPATCH(values_double))(
      static_cast<const Unary*>(call.op)->function(), loop_over(x, out), x.as<T>(), out.as<T>());
}

template void unary<float>(const Call&, Tools&);
template void unary<double>(const Call&, Tools&);

}  // namespace shardlab::cpu
#endif
