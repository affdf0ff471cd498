#include "engine/ops/cross_entropy.h"

#include <cmath>

#include "engine/backends/cpu/kernels.h"
#include "engine/backends/cpu/pick.h"
#include "engine/core/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backends/cpu/cross_entropy.cpp"
#include <hwy/foreach_target.h>
// Highway needs this order.
#include <hwy/highway.h>

#include "engine/backends/cpu/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// factor e^(x - top) - term.
template <typename T>
struct ScaledExp {
  T top, factor, term;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V operator()(D d, V x) const {
    const V power = exp_any(d, hn::Sub(x, hn::Set(d, top)));
    return hn::MulSub(power, hn::Set(d, factor), hn::Set(d, term));
  }
};

template <typename T>
T log_sum_exp(const T* x, std::int64_t width) {
  const T top = row_maximum(x, width);
  return top + std::log(row_sums<1>(width, ExpBelow<T>{top}, x)[0]);
}

float log_sum_exp_float(const float* x, std::int64_t width) { return log_sum_exp(x, width); }
double log_sum_exp_double(const double* x, std::int64_t width) { return log_sum_exp(x, width); }

float row_sum_float(const float* x, std::int64_t width) { return row_sum(width, x); }
double row_sum_double(const double* x, std::int64_t width) { return row_sum(width, x); }

void scaled_exp_float(std::int64_t width, float top, float factor, float term, const float* x,
                      float* out) {
  map(width, ScaledExp<float>{top, factor, term}, out, x);
}

void scaled_exp_double(std::int64_t width, double top, double factor, double term, const double* x,
                       double* out) {
  map(width, ScaledExp<double>{top, factor, term}, out, x);
}

}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardlab::cpu {
namespace {
HWY_EXPORT(log_sum_exp_float);
HWY_EXPORT(log_sum_exp_double);
HWY_EXPORT(row_sum_float);
HWY_EXPORT(row_sum_double);
HWY_EXPORT(scaled_exp_float);
HWY_EXPORT(scaled_exp_double);

bool ignored(std::int64_t target, std::int64_t classes, std::int64_t row,
             const CrossEntropyOptions& options) {
  if (options.ignore_index && target == *options.ignore_index) return true;
  check(target >= 0 && target < classes,
        "cross_entropy: the target of local row {} is {}, there are {} classes", row, target,
        classes);
  return false;
}

}  // namespace

template <typename T>
void cross_entropy(const Call& call, Tools&) {
  const auto& options = static_cast<const CrossEntropy*>(call.op)->options();
  const auto log_sum_exp =
      pick<T>(HWY_DYNAMIC_DISPATCH(log_sum_exp_float), HWY_DYNAMIC_DISPATCH(log_sum_exp_double));
  const auto row_sum =
      pick<T>(HWY_DYNAMIC_DISPATCH(row_sum_float), HWY_DYNAMIC_DISPATCH(row_sum_double));
  const std::int64_t rows = call.inputs[1]->shape.count();
  const std::int64_t classes = call.inputs[0]->shape[call.inputs[1]->shape.ndim()];
  const std::int64_t* targets = call.inputs[1]->as<std::int64_t>();
  const auto smoothing = static_cast<T>(options.label_smoothing);
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* logits = call.inputs[0]->as<T>() + row * classes;
    const bool skipped = ignored(targets[row], classes, row, options);
    const T whole = log_sum_exp(logits, classes);
    T loss = 0;
    if (!skipped) {
      loss = (1 - smoothing) * (whole - logits[targets[row]]);
      if (smoothing != 0)
        loss += smoothing * (whole - row_sum(logits, classes) / static_cast<T>(classes));
    }
    call.outputs[0]->as<T>()[row] = loss;
    call.outputs[1]->as<T>()[row] = whole;
    call.outputs[2]->as<T>()[row] = skipped ? 0 : 1;
  }
}

template <typename T>
void cross_entropy_gradient(const Call& call, Tools&) {
  const auto& options = static_cast<const CrossEntropyGradient*>(call.op)->options();
  const auto scaled_exp =
      pick<T>(HWY_DYNAMIC_DISPATCH(scaled_exp_float), HWY_DYNAMIC_DISPATCH(scaled_exp_double));
  const std::int64_t rows = call.inputs[1]->shape.count();
  const std::int64_t classes = call.inputs[0]->shape[call.inputs[1]->shape.ndim()];
  const std::int64_t* targets = call.inputs[1]->as<std::int64_t>();
  const T* whole = call.inputs[2]->as<T>();
  const T* incoming = call.inputs[3]->as<T>();
  const auto smoothing = static_cast<T>(options.label_smoothing);
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* logits = call.inputs[0]->as<T>() + row * classes;
    T* out = call.outputs[0]->as<T>() + row * classes;
    if (ignored(targets[row], classes, row, options)) {
      std::fill(out, out + classes, T(0));
      continue;
    }
    const T g = incoming[row];
    scaled_exp(classes, whole[row], g, g * smoothing / static_cast<T>(classes), logits, out);
    out[targets[row]] -= g * (1 - smoothing);
  }
}

template void cross_entropy<float>(const Call&, Tools&);
template void cross_entropy<double>(const Call&, Tools&);
template void cross_entropy_gradient<float>(const Call&, Tools&);
template void cross_entropy_gradient<double>(const Call&, Tools&);

}  // namespace shardlab::cpu
#endif
