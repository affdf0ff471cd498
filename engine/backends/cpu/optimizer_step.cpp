#include "engine/ops/optimizer_step.h"

#include <cmath>

#include "engine/backends/cpu/kernels.h"
#include "engine/backends/cpu/pick.h"

#ifndef SHARDLAB_BACKENDS_CPU_OPTIMIZER_STEP_ONCE
#define SHARDLAB_BACKENDS_CPU_OPTIMIZER_STEP_ONCE
namespace shardlab::cpu {

/// Numbers of one step of AdamW, the same for all elements.
template <typename T>
struct AdamWNumbers {
  T kept;          ///< 1 - rate decay
  T beta1, gain1;  ///< gain = 1 - beta
  T beta2, gain2;
  T rate;        ///< rate / (1 - beta1^step)
  T correction;  ///< 1 / sqrt(1 - beta2^step)
  T epsilon;
};

}  // namespace shardlab::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backends/cpu/optimizer_step.cpp"
#include <hwy/foreach_target.h>
// Highway needs this order.
#include <hwy/highway.h>

#include "engine/backends/cpu/map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
struct AdamWStep {
  AdamWNumbers<T> by;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE void operator()(D d, V& p, V g, V& m, V& v) const {
    m = hn::MulAdd(m, hn::Set(d, by.beta1), hn::Mul(g, hn::Set(d, by.gain1)));
    v = hn::MulAdd(v, hn::Set(d, by.beta2), hn::Mul(hn::Mul(g, g), hn::Set(d, by.gain2)));
    const V root = hn::MulAdd(hn::Sqrt(v), hn::Set(d, by.correction), hn::Set(d, by.epsilon));
    const V change = hn::Div(hn::Mul(m, hn::Set(d, by.rate)), root);
    p = hn::MulSub(p, hn::Set(d, by.kept), change);
  }
};

template <typename T>
void adamw_step(std::int64_t count, const AdamWNumbers<T>& numbers, T* p, const T* g, T* m, T* v) {
  const AdamWStep<T> step{numbers};
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    auto vp = hn::LoadU(d, p + i);
    auto vm = hn::LoadU(d, m + i);
    auto vv = hn::LoadU(d, v + i);
    step(d, vp, hn::LoadU(d, g + i), vm, vv);
    hn::StoreU(vp, d, p + i);
    hn::StoreU(vm, d, m + i);
    hn::StoreU(vv, d, v + i);
  }
  if (i == count) return;
  auto vp = load_some(d, p + i, count - i);
  auto vm = load_some(d, m + i, count - i);
  auto vv = load_some(d, v + i, count - i);
  step(d, vp, load_some(d, g + i, count - i), vm, vv);
  store_some(vp, d, p + i, count - i);
  store_some(vm, d, m + i, count - i);
  store_some(vv, d, v + i, count - i);
}

void adamw_float(std::int64_t count, const AdamWNumbers<float>& numbers, float* p, const float* g,
                 float* m, float* v) {
  adamw_step(count, numbers, p, g, m, v);
}

void adamw_double(std::int64_t count, const AdamWNumbers<double>& numbers, double* p,
                  const double* g, double* m, double* v) {
  adamw_step(count, numbers, p, g, m, v);
}

}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardlab::cpu {
namespace {
HWY_EXPORT(adamw_float);
HWY_EXPORT(adamw_double);
}  // namespace

template <typename T>
void adamw(const Call& call, Tools&) {
  const auto& op = *static_cast<const AdamW*>(call.op);
  const AdamWOptions& o = op.options();
  const auto step = static_cast<double>(op.step());
  AdamWNumbers<T> numbers;
  numbers.kept = static_cast<T>(1 - o.learning_rate * o.weight_decay);
  numbers.beta1 = static_cast<T>(o.beta1);
  numbers.gain1 = static_cast<T>(1 - o.beta1);
  numbers.beta2 = static_cast<T>(o.beta2);
  numbers.gain2 = static_cast<T>(1 - o.beta2);
  numbers.rate = static_cast<T>(o.learning_rate / (1 - std::pow(o.beta1, step)));
  numbers.correction = static_cast<T>(1 / std::sqrt(1 - std::pow(o.beta2, step)));
  numbers.epsilon = static_cast<T>(o.epsilon);
  const std::int64_t count = call.outputs[0]->shape.count();
  T* p = call.outputs[0]->as<T>();
  T* m = call.outputs[1]->as<T>();
  T* v = call.outputs[2]->as<T>();
  const T* g = call.inputs[1]->as<T>();
  pick<T>(HWY_DYNAMIC_DISPATCH(adamw_float), HWY_DYNAMIC_DISPATCH(adamw_double))(count, numbers, p,
                                                                                 g, m, v);
}

template <typename T>
void sgd(const Call& call, Tools&) {
  const auto& op = *static_cast<const Sgd*>(call.op);
  const SgdOptions& o = op.options();
  const bool first = op.step() == 1;
  const auto rate = static_cast<T>(o.learning_rate);
  const auto decay = static_cast<T>(o.weight_decay);
  const auto momentum = static_cast<T>(o.momentum);
  const auto taken = static_cast<T>(1 - o.dampening);
  // The step is along gradient * straight + buffer * gathered.
  const bool plain = o.momentum == 0;
  const T straight = plain || o.nesterov ? 1 : 0;
  const T gathered = plain ? 0 : o.nesterov ? momentum : 1;
  const std::int64_t count = call.outputs[0]->shape.count();
  T* p = call.outputs[0]->as<T>();
  T* buffer = call.outputs[1]->as<T>();
  const T* gradient = call.inputs[1]->as<T>();
  for (std::int64_t i = 0; i < count; ++i) {
    const T g = gradient[i] + decay * p[i];
    const T b = first ? g : momentum * buffer[i] + taken * g;
    buffer[i] = b;
    p[i] -= rate * (straight * g + gathered * b);
  }
}

template void adamw<float>(const Call&, Tools&);
template void adamw<double>(const Call&, Tools&);
template void sgd<float>(const Call&, Tools&);
template void sgd<double>(const Call&, Tools&);

}  // namespace shardlab::cpu
#endif
