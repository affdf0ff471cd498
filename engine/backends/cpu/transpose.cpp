#include "engine/backends/cpu/transpose.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backends/cpu/transpose.cpp"
#include <hwy/foreach_target.h>
// Highway needs this order.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
HWY_INLINE void one_by_one(const T* from, std::int64_t from_stride, T* to, std::int64_t to_stride,
                           std::int64_t rows, std::int64_t columns) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) to[r * to_stride + c] = from[c * from_stride + r];
}

/// A square of 16 bytes by as many rows.
template <typename T>
HWY_INLINE void square(const T* from, std::int64_t from_stride, T* to, std::int64_t to_stride) {
#if HWY_TARGET == HWY_SCALAR
  one_by_one(from, from_stride, to, to_stride, 16 / sizeof(T), 16 / sizeof(T));
#else
  const hn::FixedTag<std::uint64_t, 2> pair;
  if constexpr (sizeof(T) == 8) {
    const auto a = hn::LoadU(pair, from);
    const auto b = hn::LoadU(pair, from + from_stride);
    hn::StoreU(hn::InterleaveLower(pair, a, b), pair, to);
    hn::StoreU(hn::InterleaveUpper(pair, a, b), pair, to + to_stride);
  } else {
    const hn::FixedTag<T, 4> d;
    const auto a = hn::LoadU(d, from);
    const auto b = hn::LoadU(d, from + from_stride);
    const auto c = hn::LoadU(d, from + 2 * from_stride);
    const auto e = hn::LoadU(d, from + 3 * from_stride);
    const auto ab_low = hn::BitCast(pair, hn::InterleaveLower(d, a, b));
    const auto ce_low = hn::BitCast(pair, hn::InterleaveLower(d, c, e));
    const auto ab_high = hn::BitCast(pair, hn::InterleaveUpper(d, a, b));
    const auto ce_high = hn::BitCast(pair, hn::InterleaveUpper(d, c, e));
    const auto store = [&](auto row, T* at) HWY_ATTR { hn::StoreU(hn::BitCast(d, row), d, at); };
    store(hn::InterleaveLower(pair, ab_low, ce_low), to);
    store(hn::InterleaveUpper(pair, ab_low, ce_low), to + to_stride);
    store(hn::InterleaveLower(pair, ab_high, ce_high), to + 2 * to_stride);
    store(hn::InterleaveUpper(pair, ab_high, ce_high), to + 3 * to_stride);
  }
#endif
}

template <typename T>
void in_blocks(const T* from, std::int64_t from_stride, T* to, std::int64_t to_stride,
               std::int64_t rows, std::int64_t columns) {
  // A block reads and writes whole lines of 64 bytes.
  constexpr std::int64_t block = 64 / sizeof(T);
  constexpr std::int64_t edge = 16 / sizeof(T);
  for (std::int64_t r = 0; r < rows; r += block)
    for (std::int64_t c = 0; c < columns; c += block) {
      const std::int64_t here_rows = std::min(block, rows - r);
      const std::int64_t here_columns = std::min(block, columns - c);
      const T* const source = from + c * from_stride + r;
      T* const target = to + r * to_stride + c;
      if (here_rows < block || here_columns < block) {
        one_by_one(source, from_stride, target, to_stride, here_rows, here_columns);
        continue;
      }
      for (std::int64_t i = 0; i < block; i += edge)
        for (std::int64_t j = 0; j < block; j += edge)
          square(source + j * from_stride + i, from_stride, target + i * to_stride + j, to_stride);
    }
}

void transpose_4(const std::uint32_t* from, std::int64_t from_stride, std::uint32_t* to,
                 std::int64_t to_stride, std::int64_t rows, std::int64_t columns) {
  in_blocks(from, from_stride, to, to_stride, rows, columns);
}

void transpose_8(const std::uint64_t* from, std::int64_t from_stride, std::uint64_t* to,
                 std::int64_t to_stride, std::int64_t rows, std::int64_t columns) {
  in_blocks(from, from_stride, to, to_stride, rows, columns);
}

}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardlab::cpu {
namespace {
HWY_EXPORT(transpose_4);
HWY_EXPORT(transpose_8);
}  // namespace

void transpose(const std::uint16_t* from, std::int64_t from_stride, std::uint16_t* to,
               std::int64_t to_stride, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t block = 32;
  for (std::int64_t r = 0; r < rows; r += block)
    for (std::int64_t c = 0; c < columns; ++c)
      for (std::int64_t i = r; i < std::min(r + block, rows); ++i)
        to[i * to_stride + c] = from[c * from_stride + i];
}

void transpose(const std::uint32_t* from, std::int64_t from_stride, std::uint32_t* to,
               std::int64_t to_stride, std::int64_t rows, std::int64_t columns) {
  HWY_DYNAMIC_DISPATCH(transpose_4)(from, from_stride, to, to_stride, rows, columns);
}

void transpose(const std::uint64_t* from, std::int64_t from_stride, std::uint64_t* to,
               std::int64_t to_stride, std::int64_t rows, std::int64_t columns) {
  HWY_DYNAMIC_DISPATCH(transpose_8)(from, from_stride, to, to_stride, rows, columns);
}

}  // namespace shardlab::cpu
#endif
