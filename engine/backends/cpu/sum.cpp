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
/// Columns whose sums are kept at a time.
inline constexpr std::int64_t column_band = 1024;
}  // namespace shardlab::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backends/cpu/sum.cpp"
#include <hwy/foreach_target.h>
// Highway needs this order.
#include <hwy/highway.h>

#include "engine/backends/cpu/map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A dense run; blocks of it are added in T, then these in double.
template <typename T>
double add_run(const T* x, std::int64_t count) {
  constexpr std::int64_t block = 512;
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  double sum = 0;
  while (count > 0) {
    const std::int64_t here = std::min(block, count);
    auto a = hn::Zero(d);
    auto b = hn::Zero(d);
    auto c = hn::Zero(d);
    auto e = hn::Zero(d);
    std::int64_t i = 0;
    for (; i + 4 * lanes <= here; i += 4 * lanes) {
      a = hn::Add(a, hn::LoadU(d, x + i));
      b = hn::Add(b, hn::LoadU(d, x + i + lanes));
      c = hn::Add(c, hn::LoadU(d, x + i + 2 * lanes));
      e = hn::Add(e, hn::LoadU(d, x + i + 3 * lanes));
    }
    for (; i + lanes <= here; i += lanes) a = hn::Add(a, hn::LoadU(d, x + i));
    if (i < here) b = hn::Add(b, load_some(d, x + i, here - i));
    const auto all = hn::Add(hn::Add(a, b), hn::Add(c, e));
    sum += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, all)));
    x += here;
    count -= here;
  }
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

/// Adds rows to `sums`, at most `column_band` columns; blocks of rows are added in T first.
template <typename T>
void add_rows(const T* x, std::int64_t rows, std::int64_t stride, std::int64_t columns,
              double* sums) {
  constexpr std::int64_t block = 128;
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  HWY_ALIGN T partial[column_band];
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

double add_run_float(const float* x, std::int64_t count) { return add_run(x, count); }
double add_run_double(const double* x, std::int64_t count) { return add_run(x, count); }

void add_rows_float(const float* x, std::int64_t rows, std::int64_t stride, std::int64_t columns,
                    double* sums) {
  add_rows(x, rows, stride, columns, sums);
}

void add_rows_double(const double* x, std::int64_t rows, std::int64_t stride,
                     std::int64_t columns, double* sums) {
  add_rows(x, rows, stride, columns, sums);
}

}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardlab::cpu {
namespace {
HWY_EXPORT(add_run_float);
HWY_EXPORT(add_run_double);
HWY_EXPORT(add_rows_float);
HWY_EXPORT(add_rows_double);

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

/// Sums whose innermost dim is summed: a run of elements at a time.
template <typename T>
void sum_runs(const Loop<1>& kept, const Loop<1>& summed, const T* x, T* out) {
  const auto add_run =
      pick<T>(HWY_DYNAMIC_DISPATCH(add_run_float), HWY_DYNAMIC_DISPATCH(add_run_double));
  kept.for_each_run([&](const Loop<1>::Offsets& offset) {
    for (std::int64_t i = 0; i < kept.run(); ++i) {
      const T* from = x + offset[0] + i * kept.stride(0);
      double sum = 0;
      summed.for_each_run([&](const Loop<1>::Offsets& run) {
        sum += add_run(from + run[0], summed.run());
      });
      *out++ = static_cast<T>(sum);
    }
  });
}

/// Sums whose innermost dim is kept: rows of columns at a time.
template <typename T>
void sum_columns(const Loop<1>& kept, const Loop<1>& summed, const T* x, T* out) {
  const auto add_rows =
      pick<T>(HWY_DYNAMIC_DISPATCH(add_rows_float), HWY_DYNAMIC_DISPATCH(add_rows_double));
  std::array<double, column_band> sums;
  kept.for_each_run([&](const Loop<1>::Offsets& offset) {
    for (std::int64_t start = 0; start < kept.run(); start += column_band) {
      const std::int64_t columns = std::min(column_band, kept.run() - start);
      std::fill_n(sums.begin(), columns, 0.0);
      summed.for_each_run([&](const Loop<1>::Offsets& rows) {
        add_rows(x + offset[0] + start + rows[0], summed.run(), summed.stride(0), columns,
                 sums.data());
      });
      for (std::int64_t i = 0; i < columns; ++i) *out++ = static_cast<T>(sums[i]);
    }
  });
}

/// Sums the dims of a mask.
template <typename T>
void sum_dims(const View& x, std::uint32_t mask, T* out) {
  const Dims dims = split_dims(x.shape, mask);
  const Loop<1> kept(dims.kept, {dims.kept_strides});
  const Loop<1> summed(dims.summed, {dims.summed_strides});
  if (kept.stride(0) == 1 && kept.run() > 1)
    sum_columns(kept, summed, x.as<T>(), out);
  else
    sum_runs(kept, summed, x.as<T>(), out);
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
