// Included once for every instruction set, hence this guard.
#if defined(SHARDLAB_BACKENDS_CPU_ATTENTION_KERNELS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDLAB_BACKENDS_CPU_ATTENTION_KERNELS_INL_H
#undef SHARDLAB_BACKENDS_CPU_ATTENTION_KERNELS_INL_H
#else
#define SHARDLAB_BACKENDS_CPU_ATTENTION_KERNELS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "engine/backends/cpu/attention_plan.h"

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu::attention_tiles {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Vectors across a register tile: 24 accumulators of 32 registers, or 12 of 16.
#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3) || HWY_ARCH_ARM_A64
inline constexpr int tile_vectors = 4;
#else
inline constexpr int tile_vectors = 2;
#endif

/// Columns of a full register tile.
template <typename T>
inline constexpr std::int64_t tile_columns =
    tile_vectors* static_cast<std::int64_t>(hn::MaxLanes(hn::ScalableTag<T>()));

/// The left operand of a product: element (row, step) lies at data[row * row_stride + step *
/// step_stride].
template <typename T>
struct LeftOperand {
  const T* data;
  std::int64_t row_stride;
  std::int64_t step_stride;
};

/// A matrix with contiguous rows.
template <typename T>
struct Rows {
  T* data;
  std::int64_t stride;
};

/// Sets `sum` to the product of tile_rows x depth and depth x (kVectors vectors).
template <int kVectors, typename T, typename V>
HWY_INLINE void multiply_in_registers(LeftOperand<T> left, Rows<const T> right, std::int64_t depth,
                                      V (&sum)[tile_rows][kVectors]) {
  static_assert(tile_rows == 6);
  const hn::ScalableTag<T> d;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
#pragma GCC unroll 8
  for (int row = 0; row < tile_rows; ++row) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sum[row][v] = hn::Zero(d);
  }
  const T* upper = left.data;
  const T* lower = left.data + 3 * left.row_stride;
  const T* across = right.data;
#pragma GCC unroll 4
  for (std::int64_t step = 0; step < depth; ++step) {
    V column[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) column[v] = hn::Load(d, across + v * lanes);
#pragma GCC unroll 8
    for (int row = 0; row < tile_rows; ++row) {
      const V factor =
          hn::Set(d, row < 3 ? upper[row * left.row_stride] : lower[(row - 3) * left.row_stride]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[row][v] = hn::MulAdd(factor, column[v], sum[row][v]);
    }
    upper += left.step_stride;
    lower += left.step_stride;
    across += right.stride;
  }
}

template <int kVectors, typename T, typename V>
HWY_INLINE void store_tile(const V (&tile)[tile_rows][kVectors], Rows<T> to) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
#pragma GCC unroll 8
  for (int row = 0; row < tile_rows; ++row) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      hn::Store(tile[row][v], d, to.data + row * to.stride + v * lanes);
  }
}

template <int kVectors, typename T, typename V>
HWY_INLINE void load_tile(Rows<const T> from, V (&tile)[tile_rows][kVectors]) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
#pragma GCC unroll 8
  for (int row = 0; row < tile_rows; ++row) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      tile[row][v] = hn::Load(d, from.data + row * from.stride + v * lanes);
  }
}

enum class Finish { store, add };

/// result = or += left x right, for one register tile.
template <int kVectors, Finish finish, typename T>
HWY_NOINLINE void multiply_tile(LeftOperand<T> left, Rows<const T> right, std::int64_t depth,
                                Rows<T> result) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  hn::Vec<decltype(d)> sum[tile_rows][kVectors];
  multiply_in_registers<kVectors>(left, right, depth, sum);
  if constexpr (finish == Finish::add) {
    // Summed apart from what is there: partial sums of short runs lose less to rounding.
#pragma GCC unroll 8
    for (int row = 0; row < tile_rows; ++row) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        const T* const there = result.data + row * result.stride + v * lanes;
        sum[row][v] = hn::Add(hn::Load(d, there), sum[row][v]);
      }
    }
  }
  store_tile<kVectors>(sum, result);
}

/// Calls visit(first column, vectors as a constant) for the register tiles that cover `columns`:
/// as few as can be, and nearly equal, since narrow ones do not fill the pipeline.
template <typename T, typename Visit>
HWY_INLINE void for_each_column_tile(std::int64_t columns, const Visit& visit) {
  constexpr std::int64_t lanes = hn::MaxLanes(hn::ScalableTag<T>());
  std::int64_t vectors = (columns + lanes - 1) / lanes;
  std::int64_t first = 0;
  for (std::int64_t tiles = (vectors + tile_vectors - 1) / tile_vectors; tiles > 0; --tiles) {
    const std::int64_t now = (vectors + tiles - 1) / tiles;
    switch (now) {
      case 1:
        visit(first, std::integral_constant<int, 1>());
        break;
      case 2:
        visit(first, std::integral_constant<int, 2>());
        break;
      case 3:
        if constexpr (tile_vectors > 2) visit(first, std::integral_constant<int, 3>());
        break;
      default:
        if constexpr (tile_vectors > 2) visit(first, std::integral_constant<int, 4>());
    }
    vectors -= now;
    first += now * lanes;
  }
}

/// result += left x right for whole matrices; rows are padded to tile_rows, columns to vectors.
template <typename T>
void accumulate_product(LeftOperand<T> left, Rows<const T> right, std::int64_t rows,
                        std::int64_t columns, std::int64_t depth, Rows<T> result) {
  for_each_column_tile<T>(columns, [&](std::int64_t first, auto vectors) {
    for (std::int64_t row = 0; row < rows; row += tile_rows) {
      multiply_tile<vectors(), Finish::add, T>(
          {left.data + row * left.row_stride, left.row_stride, left.step_stride},
          {right.data + first, right.stride}, depth,
          {result.data + row * result.stride + first, result.stride});
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu::attention_tiles
HWY_AFTER_NAMESPACE();

#endif
