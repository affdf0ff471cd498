#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/backends/cpu/kernels.h"
#include "engine/backends/cpu/loops.h"
#include "engine/backends/cpu/pick.h"
#include "engine/ops/reduce.h"

#ifndef SHARDLAB_BACKENDS_CPU_SUM_ONCE
#define SHARDLAB_BACKENDS_CPU_SUM_ONCE
namespace shardlab::cpu {

/// Sums that are kept at a time.
inline constexpr std::int64_t sum_band = 1024;

/// Elements of two dims, of which one is summed; one of the strides is 1.
struct SumBlock {
  std::int64_t kept, kept_stride;
  std::int64_t summed, summed_stride;
};

}  // namespace shardlab::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backends/cpu/sum.cpp"
#include <hwy/foreach_target.h>
// Highway needs this order.
#include <hwy/highway.h>

#include "engine/backends/cpu/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A dense run; blocks of it are added in T, then these in double.
template <typename T>
double add_run(const T* x, std::int64_t count) {
  constexpr std::int64_t block = 512;
  constexpr std::int64_t few = 32;
  double sum = 0;
  if (count <= few) {
    for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(x[i]);
    return sum;
  }
  for (; count > 0; x += block, count -= block)
    sum += static_cast<double>(row_sum(std::min(block, count), x));
  return sum;
}

/// A vector of each of eight rows.
template <class D, typename T>
HWY_INLINE hn::Vec<D> eight_rows(D d, const T* x, std::int64_t stride) {
  const auto a = hn::Add(hn::LoadU(d, x), hn::LoadU(d, x + stride));
  const auto b = hn::Add(hn::LoadU(d, x + 2 * stride), hn::LoadU(d, x + 3 * stride));
  const auto c = hn::Add(hn::LoadU(d, x + 4 * stride), hn::LoadU(d, x + 5 * stride));
  const auto e = hn::Add(hn::LoadU(d, x + 6 * stride), hn::LoadU(d, x + 7 * stride));
  return hn::Add(hn::Add(a, b), hn::Add(c, e));
}

/// Adds rows to the sums of their columns; blocks of rows are added in T first.
template <typename T>
void add_rows(const T* x, std::int64_t rows, std::int64_t stride, std::int64_t columns,
              double* sums) {
  constexpr std::int64_t block = 128;
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  HWY_ALIGN T partial[sum_band];
  for (std::int64_t start = 0; start < rows; start += block) {
    const std::int64_t here = std::min(block, rows - start);
    const T* from = x + start * stride;
    std::fill(partial, partial + columns, T(0));
    std::int64_t row = 0;
    for (; row + 8 <= here; row += 8) {
      const T* eight = from + row * stride;
      std::int64_t i = 0;
      for (; i + lanes <= columns; i += lanes)
        hn::StoreU(hn::Add(hn::LoadU(d, partial + i), eight_rows(d, eight + i, stride)), d,
                   partial + i);
      for (; i < columns; ++i)
        for (int r = 0; r < 8; ++r) partial[i] += eight[r * stride + i];
    }
    for (; row < here; ++row)
      for (std::int64_t i = 0; i < columns; ++i) partial[i] += from[row * stride + i];
    for (std::int64_t i = 0; i < columns; ++i) sums[i] += static_cast<double>(partial[i]);
  }
}

/// The same for a few dense columns: many rows are taken as one wide row.
template <typename T>
void add_narrow_rows(const T* x, std::int64_t rows, std::int64_t columns, double* sums) {
  const std::int64_t joined = sum_band / columns;
  const std::int64_t width = joined * columns;
  double wide[sum_band] = {};
  add_rows(x, rows / joined, width, width, wide);
  for (std::int64_t i = 0; i < width; ++i) sums[i % columns] += wide[i];
  const std::int64_t done = rows / joined * joined;
  add_rows(x + done * columns, rows - done, columns, columns, sums);
}

template <typename T>
void add_to(const T* x, const SumBlock& block, double* sums) {
  if (block.kept > 1 && block.kept_stride == 1) {
    if (block.kept <= 64 && block.summed_stride == block.kept && block.summed >= 2 * sum_band)
      add_narrow_rows(x, block.summed, block.kept, sums);
    else
      add_rows(x, block.summed, block.summed_stride, block.kept, sums);
  } else {
    for (std::int64_t i = 0; i < block.kept; ++i)
      sums[i] += add_run(x + i * block.kept_stride, block.summed);
  }
}

void add_to_float(const float* x, const SumBlock& block, double* sums) { add_to(x, block, sums); }
void add_to_double(const double* x, const SumBlock& block, double* sums) { add_to(x, block, sums); }

}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardlab::cpu {
namespace {
HWY_EXPORT(add_to_float);
HWY_EXPORT(add_to_double);

/// The dims of a dense tensor that are kept, and those that are summed.
struct Dims {
  Shape kept, summed;
  Strides kept_strides{}, summed_strides{};
};

Dims split_dims(const Shape& shape, std::uint32_t summed) {
  Dims dims;
  const Strides strides = dense_strides(shape);
  for (int d = 0; d < shape.ndim(); ++d) {
    const bool gone = (summed >> d & 1U) != 0;
    Shape& part = gone ? dims.summed : dims.kept;
    (gone ? dims.summed_strides : dims.kept_strides)[part.ndim()] = strides[d];
    part.push_back(shape[d]);
  }
  return dims;
}

/// Sums the dims of a mask.
template <typename T>
void sum_dims(const View& x, std::uint32_t mask, T* out) {
  const auto add_to =
      pick<T>(HWY_DYNAMIC_DISPATCH(add_to_float), HWY_DYNAMIC_DISPATCH(add_to_double));
  const Dims dims = split_dims(x.shape, mask);
  const Loop<1> kept(dims.kept, {dims.kept_strides});
  const Loop<1> summed(dims.summed, {dims.summed_strides});
  SumBlock block{0, kept.stride(0), summed.run(), summed.stride(0)};
  std::array<double, sum_band> sums;
  kept.for_each_run([&](const Loop<1>::Offsets& offset) {
    for (std::int64_t start = 0; start < kept.run(); start += sum_band) {
      block.kept = std::min(sum_band, kept.run() - start);
      std::fill_n(sums.begin(), block.kept, 0.0);
      const T* const from = x.as<T>() + offset[0] + start * kept.stride(0);
      summed.for_each_run(
          [&](const Loop<1>::Offsets& at) { add_to(from + at[0], block, sums.data()); });
      for (std::int64_t i = 0; i < block.kept; ++i) *out++ = static_cast<T>(sums[i]);
    }
  });
}

}  // namespace

template <typename T>
void sum(const Call& call, Tools&) {
  sum_dims(*call.inputs[0], static_cast<const Sum*>(call.op)->dims(), call.outputs[0]->as<T>());
}

template <typename T>
void sum_to(const Call& call, Tools&) {
  const Shape& from = call.inputs[0]->shape;
  const Shape& to = call.outputs[0]->shape;
  const int extra = from.ndim() - to.ndim();
  std::uint32_t mask = 0;
  for (int d = 0; d < from.ndim(); ++d)
    if (d < extra || from[d] != to[d - extra]) mask |= 1U << d;
  sum_dims(*call.inputs[0], mask, call.outputs[0]->as<T>());
}

template void sum<float>(const Call&, Tools&);
template void sum<double>(const Call&, Tools&);
template void sum_to<float>(const Call&, Tools&);
template void sum_to<double>(const Call&, Tools&);

}  // namespace shardlab::cpu
#endif
