#include "engine/backends/cpu/kernels.h"

#include <cstdint>

namespace shardlab::cpu {
namespace {

using F = float;
using D = double;
using I = std::int64_t;

constexpr KernelRow table[] = {
    // op, float32, float64, int64, two bytes
    {"copy", copy, copy, copy, copy},
    {"fill", fill<F>, fill<D>, fill<I>},
    {"keep_first", keep_first, keep_first, keep_first, keep_first},
    {"expand", expand, expand, expand, expand},
    {"embed", embed, embed, embed, embed},
    {"concat", concat, concat, concat, concat},
    {"random", random<F>, random<D>, random<I>},

    {"add", add<F>, add<D>},
    {"subtract", subtract<F>, subtract<D>},
    {"multiply", multiply<F>, multiply<D>},
    {"divide", divide<F>, divide<D>},
    {"scale", scale<F>, scale<D>},
    {"shift", shift<F>, shift<D>},
    {"sum", sum<F>, sum<D>},
    {"sum_to", sum_to<F>, sum_to<D>},

    {"gelu_erf", unary<F>, unary<D>},
    {"gelu_tanh", unary<F>, unary<D>},
    {"tanh", unary<F>, unary<D>},
    {"relu", unary<F>, unary<D>},
    {"silu", unary<F>, unary<D>},
    {"sigmoid", unary<F>, unary<D>},
    {"exp", unary<F>, unary<D>},
    {"log", unary<F>, unary<D>},

    {"gelu_erf_gradient", unary_gradient<F>, unary_gradient<D>},
    {"gelu_tanh_gradient", unary_gradient<F>, unary_gradient<D>},
    {"tanh_gradient", unary_gradient<F>, unary_gradient<D>},
    {"relu_gradient", unary_gradient<F>, unary_gradient<D>},
    {"silu_gradient", unary_gradient<F>, unary_gradient<D>},
    {"sigmoid_gradient", unary_gradient<F>, unary_gradient<D>},
    {"exp_gradient", unary_gradient<F>, unary_gradient<D>},
    {"log_gradient", unary_gradient<F>, unary_gradient<D>},

    {"gelu_erf_second", unary_gradient<F>, unary_gradient<D>},
    {"gelu_tanh_second", unary_gradient<F>, unary_gradient<D>},
    {"tanh_second", unary_gradient<F>, unary_gradient<D>},
    {"relu_second", unary_gradient<F>, unary_gradient<D>},
    {"silu_second", unary_gradient<F>, unary_gradient<D>},
    {"sigmoid_second", unary_gradient<F>, unary_gradient<D>},
    {"exp_second", unary_gradient<F>, unary_gradient<D>},
    {"log_second", unary_gradient<F>, unary_gradient<D>},

    {"linear", linear<F>, linear<D>},
    {"outer_sum", outer_sum<F>, outer_sum<D>},
    {"matmul", matmul<F>, matmul<D>},

    {"layer_norm", layer_norm<F>, layer_norm<D>},
    {"layer_norm_gradient", layer_norm_gradient<F>, layer_norm_gradient<D>},
    {"softmax", softmax<F>, softmax<D>},
    {"log_softmax", softmax<F>, softmax<D>},
    {"cross_entropy", cross_entropy<F>, cross_entropy<D>},
    {"cross_entropy_gradient", cross_entropy_gradient<F>, cross_entropy_gradient<D>},

    {"attention", attention<F>, attention<D>},
    {"attention_gradient", attention_gradient<F>, attention_gradient<D>},
    {"attention_merge", attention_merge<F>, attention_merge<D>},
    {"attention_merge_gradient", attention_merge_gradient<F>, attention_merge_gradient<D>},

    {"adamw", adamw<F>, adamw<D>},
    {"sgd", sgd<F>, sgd<D>},
};

}  // namespace

Kernel KernelRow::operator[](Dtype dtype) const {
  switch (dtype) {
    case Dtype::float32:
      return float32;
    case Dtype::float64:
      return float64;
    case Dtype::int64:
      return int64;
    case Dtype::bfloat16:
    case Dtype::float16:
      return two_bytes;
  }
  return nullptr;
}

std::span<const KernelRow> kernel_table() { return table; }

}  // namespace shardlab::cpu
