#include "engine/comm/thread/reduce.h"

#include <algorithm>
#include <cstring>

#include "engine/core/check.h"

namespace shardlab::thread {
namespace {

// A partial result of this size stays in the first-level cache beside the inputs that stream by.
constexpr std::int64_t block_bytes = 16384;

struct Sum {
  template <typename T>
  T operator()(T a, T b) const {
    return a + b;
  }
};

struct Max {
  template <typename T>
  T operator()(T a, T b) const {
    return a > b || a != a ? a : b;
  }
};

// Outputs equal an input or are apart from it, so no iteration reads what another has written.
template <typename T, typename Join>
void join(const T* a, const T* b, T* out, std::int64_t count, Join both) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) out[i] = both(a[i], b[i]);
}

template <typename T, typename Join>
void join_to_two(const T* a, const T* b, T* left, T* right, std::int64_t count, Join both) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) {
    const T value = both(a[i], b[i]);
    left[i] = value;
    right[i] = value;
  }
}

template <typename T, typename Join>
void reduce_as(std::span<const void* const> inputs, std::span<void* const> outputs,
               std::int64_t count, Join both) {
  const auto input = [&](std::size_t k) { return static_cast<const T*>(inputs[k]); };
  const auto output = [&](std::size_t k) { return static_cast<T*>(outputs[k]); };
  if (inputs.size() == 2 && outputs.size() == 1)
    return join(input(0), input(1), output(0), count, both);
  if (inputs.size() == 2 && outputs.size() == 2)
    return join_to_two(input(0), input(1), output(0), output(1), count, both);

  constexpr std::int64_t block = block_bytes / sizeof(T);
  alignas(64) T partial[block];
  for (std::int64_t begin = 0; begin < count; begin += block) {
    const std::int64_t n = std::min(block, count - begin);
    std::copy_n(input(0) + begin, n, partial);
    for (std::size_t k = 1; k < inputs.size(); ++k)
      join(partial, input(k) + begin, partial, n, both);
    for (std::size_t k = 0; k < outputs.size(); ++k) std::copy_n(partial, n, output(k) + begin);
  }
}

template <typename T>
void reduce_as(std::span<const void* const> inputs, std::span<void* const> outputs,
               std::int64_t count, Reduction reduction) {
  if (reduction == Reduction::sum)
    reduce_as<T>(inputs, outputs, count, Sum{});
  else
    reduce_as<T>(inputs, outputs, count, Max{});
}

}  // namespace

bool reduces(Dtype dtype) {
  return dtype == Dtype::float64 || dtype == Dtype::float32 || dtype == Dtype::int64;
}

void reduce(std::span<const void* const> inputs, std::span<void* const> outputs, std::int64_t count,
            Dtype dtype, Reduction reduction) {
  expect(reduces(dtype), "reduction of {}", name_of(dtype));
  if (dtype == Dtype::float64)
    reduce_as<double>(inputs, outputs, count, reduction);
  else if (dtype == Dtype::float32)
    reduce_as<float>(inputs, outputs, count, reduction);
  else
    reduce_as<std::int64_t>(inputs, outputs, count, reduction);
}

}  // namespace shardlab::thread
