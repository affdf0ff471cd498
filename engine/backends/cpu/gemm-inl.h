// Included once for every instruction set, hence this guard.
#if defined(SHARDLAB_BACKENDS_CPU_GEMM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDLAB_BACKENDS_CPU_GEMM_INL_H
#undef SHARDLAB_BACKENDS_CPU_GEMM_INL_H
#else
#define SHARDLAB_BACKENDS_CPU_GEMM_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "engine/backends/cpu/library_memory.h"
#include "engine/backends/cpu/matrix.h"

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu {
namespace HWY_NAMESPACE {
namespace gemm_kernels {
namespace hn = hwy::HWY_NAMESPACE;

// A register tile: 24 sums of 32 registers, or 12 of 16.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_ARCH_ARM_A64
inline constexpr int tile_rows = 8;
inline constexpr int tile_vectors = 3;
#else
inline constexpr int tile_rows = 6;
inline constexpr int tile_vectors = 2;
#endif

template <typename T>
inline constexpr std::int64_t lanes = hn::MaxLanes(hn::ScalableTag<T>());

// A packed block of a, some 400 KiB, stays in the second cache while b passes over it. Deeper than
// the first cache holds, because reading and writing the result again costs more.
inline constexpr std::int64_t depth_of_block = 384;
inline constexpr std::int64_t rows_of_block = 16 * tile_rows;
inline constexpr std::int64_t bytes_across_block = 16384;
inline constexpr std::int64_t prefetch_steps = 16;

/// A strip of an operand: `across` runs along its width, `along` down the contraction.
template <typename T>
struct Strip {
  const T* data;
  std::int64_t width;
  std::int64_t across_stride;
  std::int64_t along_stride;
};

/// Copies a strip so that kWidth elements follow each other at every step, zeros past its width.
template <std::int64_t kWidth, typename T>
HWY_NOINLINE void pack(Strip<T> from, std::int64_t depth, T* HWY_RESTRICT to) {
  if (from.across_stride == 1 && from.width == kWidth) {
    for (std::int64_t p = 0; p < depth; ++p, to += kWidth) {
      const T* source = from.data + p * from.along_stride;
      for (std::int64_t i = 0; i < kWidth; ++i) to[i] = source[i];
    }
    return;
  }
  std::int64_t i = 0;
  for (; i + 4 <= from.width; i += 4) {
    const T* s0 = from.data + i * from.across_stride;
    const T* s1 = s0 + from.across_stride;
    const T* s2 = s1 + from.across_stride;
    const T* s3 = s2 + from.across_stride;
    T* HWY_RESTRICT column = to + i;
    for (std::int64_t p = 0; p < depth; ++p, column += kWidth) {
      const std::int64_t at = p * from.along_stride;
      column[0] = s0[at];
      column[1] = s1[at];
      column[2] = s2[at];
      column[3] = s3[at];
    }
  }
  for (; i < from.width; ++i)
    for (std::int64_t p = 0; p < depth; ++p)
      to[p * kWidth + i] = from.data[i * from.across_stride + p * from.along_stride];
  if (i < kWidth)
    for (std::int64_t p = 0; p < depth; ++p)
      std::fill(to + p * kWidth + i, to + (p + 1) * kWidth, T{0});
}

/// One register tile: multiplies a strip of packed rows by a strip of packed columns.
template <int kVectors, typename T>
HWY_NOINLINE void multiply_strips(std::int64_t depth, const T* HWY_RESTRICT a,
                                  const T* HWY_RESTRICT b, bool accumulate, Matrix<T> out) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::int64_t width = kVectors * lanes<T>;
  V sums[tile_rows][kVectors];
#pragma GCC unroll 16
  for (auto& row : sums)
#pragma GCC unroll 4
    for (V& sum : row) sum = hn::Zero(d);
  for (std::int64_t i = 0; i < out.rows; ++i)
    for (std::int64_t j = 0; j < out.cols; j += 64 / sizeof(T))
      hwy::Prefetch(out.data + i * out.row_stride + j);
  for (std::int64_t p = 0; p < depth; ++p, a += tile_rows, b += width) {
    V right[kVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      right[j] = hn::Load(d, b + j * lanes<T>);
      hwy::Prefetch(b + prefetch_steps * width + j * lanes<T>);
    }
#pragma GCC unroll 16
    for (int i = 0; i < tile_rows; ++i) {
      const V left = hn::Set(d, a[i]);
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) sums[i][j] = hn::MulAdd(left, right[j], sums[i][j]);
    }
  }
  if (out.rows == tile_rows && out.cols == width) {
#pragma GCC unroll 16
    for (int i = 0; i < tile_rows; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        T* to = out.data + i * out.row_stride + j * lanes<T>;
        hn::StoreU(accumulate ? hn::Add(hn::LoadU(d, to), sums[i][j]) : sums[i][j], d, to);
      }
    return;
  }
  HWY_ALIGN T whole[tile_rows * width];
#pragma GCC unroll 16
  for (int i = 0; i < tile_rows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) hn::Store(sums[i][j], d, whole + i * width + j * lanes<T>);
  for (std::int64_t i = 0; i < out.rows; ++i) {
    T* to = out.data + i * out.row_stride;
    const T* from = whole + i * width;
    for (std::int64_t j = 0; j < out.cols; ++j) to[j] = accumulate ? to[j] + from[j] : from[j];
  }
}

template <typename T>
struct Panel {
  std::int64_t width;
  void (*pack)(Strip<T>, std::int64_t, T*);
  void (*multiply)(std::int64_t, const T*, const T*, bool, Matrix<T>);
};

/// The narrowest kernels that cover `cols`, or the widest ones.
template <typename T>
Panel<T> panel_for(std::int64_t cols) {
  constexpr std::int64_t one = lanes<T>;
  if (cols <= one) return {one, pack<one, T>, multiply_strips<1, T>};
  if (tile_vectors == 2 || cols <= 2 * one)
    return {2 * one, pack<2 * one, T>, multiply_strips<2, T>};
  return {tile_vectors * one, pack<tile_vectors * one, T>, multiply_strips<tile_vectors, T>};
}

template <typename T>
void gemm(Matrix<const T> a, Matrix<const T> b, bool accumulate, Matrix<T> out, Scratch& scratch) {
  constexpr std::int64_t widest = tile_vectors * lanes<T>;
  constexpr std::int64_t cols_of_block = bytes_across_block / sizeof(T) / widest * widest;
  // Blocks of equal depth, whatever part of the rows and columns this call has.
  const std::int64_t deep = hwy::DivCeil(a.cols, hwy::DivCeil(a.cols, depth_of_block));
  const std::int64_t high = std::min(hwy::DivCeil(out.rows, tile_rows) * tile_rows, rows_of_block);
  const std::int64_t wide = std::min(hwy::DivCeil(out.cols, lanes<T>) * lanes<T>, cols_of_block);
  auto* const packed_b = reinterpret_cast<T*>(
      scratch.reserve(static_cast<std::int64_t>(sizeof(T)) * deep * (wide + high)));
  T* const packed_a = packed_b + deep * wide;

  for (std::int64_t col0 = 0; col0 < out.cols; col0 += cols_of_block) {
    const std::int64_t cols = std::min(cols_of_block, out.cols - col0);
    for (std::int64_t p0 = 0; p0 < a.cols; p0 += deep) {
      const std::int64_t depth = std::min(deep, a.cols - p0);
      const T* const from_b = b.data + p0 * b.row_stride + col0 * b.col_stride;
      for (std::int64_t j = 0; j < cols; j += widest)
        panel_for<T>(cols - j).pack(
            {from_b + j * b.col_stride, std::min(widest, cols - j), b.col_stride, b.row_stride},
            depth, packed_b + j * depth);
      for (std::int64_t row0 = 0; row0 < out.rows; row0 += rows_of_block) {
        const std::int64_t rows = std::min(rows_of_block, out.rows - row0);
        const T* const from_a = a.data + row0 * a.row_stride + p0 * a.col_stride;
        for (std::int64_t i = 0; i < rows; i += tile_rows)
          pack<tile_rows, T>(
              {from_a + i * a.row_stride, std::min<std::int64_t>(tile_rows, rows - i), a.row_stride,
               a.col_stride},
              depth, packed_a + i * depth);
        for (std::int64_t j = 0; j < cols; j += widest) {
          const Panel<T> panel = panel_for<T>(cols - j);
          for (std::int64_t i = 0; i < rows; i += tile_rows)
            panel.multiply(depth, packed_a + i * depth, packed_b + j * depth, accumulate || p0 > 0,
                           {out.data + (row0 + i) * out.row_stride + col0 + j,
                            std::min<std::int64_t>(tile_rows, rows - i),
                            std::min(panel.width, cols - j), out.row_stride});
        }
      }
    }
  }
}

}  // namespace gemm_kernels
}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu
HWY_AFTER_NAMESPACE();

#endif
