#pragma once

#include <span>

#include "engine/backends/cpu/tools.h"
#include "engine/core/backend.h"

namespace shardlab::cpu {

/// Work on local tensors, done when it returns.
using Kernel = void (*)(const Call& call, Tools& tools);

/// The kernels of an op by dtype of its first output; null where there is none.
struct KernelRow {
  const char* op;
  Kernel float32;
  Kernel float64;
  Kernel int64 = nullptr;
  Kernel two_bytes = nullptr;

  [[nodiscard]] Kernel operator[](Dtype dtype) const;
};

/// Every kernel there is.
[[nodiscard]] std::span<const KernelRow> kernel_table();

/// Elements of any dtype, moved as they are.
void copy(const Call& call, Tools& tools);
void keep_first(const Call& call, Tools& tools);
void expand(const Call& call, Tools& tools);
void embed(const Call& call, Tools& tools);
void concat(const Call& call, Tools& tools);

template <typename T>
void fill(const Call& call, Tools& tools);
template <typename T>
void random(const Call& call, Tools& tools);

template <typename T>
void add(const Call& call, Tools& tools);
template <typename T>
void subtract(const Call& call, Tools& tools);
template <typename T>
void multiply(const Call& call, Tools& tools);
template <typename T>
void divide(const Call& call, Tools& tools);
template <typename T>
void scale(const Call& call, Tools& tools);
template <typename T>
void shift(const Call& call, Tools& tools);

/// The function of the op, its first or its second derivative.
template <typename T>
void unary(const Call& call, Tools& tools);
template <typename T>
void unary_gradient(const Call& call, Tools& tools);

template <typename T>
void sum(const Call& call, Tools& tools);
template <typename T>
void sum_to(const Call& call, Tools& tools);

template <typename T>
void linear(const Call& call, Tools& tools);
template <typename T>
void outer_sum(const Call& call, Tools& tools);
template <typename T>
void matmul(const Call& call, Tools& tools);

template <typename T>
void layer_norm(const Call& call, Tools& tools);
template <typename T>
void layer_norm_gradient(const Call& call, Tools& tools);

/// Softmax or its logarithm, as the op says.
template <typename T>
void softmax(const Call& call, Tools& tools);
template <typename T>
void cross_entropy(const Call& call, Tools& tools);
template <typename T>
void cross_entropy_gradient(const Call& call, Tools& tools);

template <typename T>
void attention(const Call& call, Tools& tools);
template <typename T>
void attention_gradient(const Call& call, Tools& tools);
template <typename T>
void attention_merge(const Call& call, Tools& tools);
template <typename T>
void attention_merge_gradient(const Call& call, Tools& tools);

template <typename T>
void adamw(const Call& call, Tools& tools);
template <typename T>
void sgd(const Call& call, Tools& tools);

}  // namespace shardlab::cpu
