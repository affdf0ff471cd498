// Included once for every instruction set, hence this guard.
#if defined(SHARDLAB_BACKENDS_CPU_ATTENTION_PACK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDLAB_BACKENDS_CPU_ATTENTION_PACK_INL_H
#undef SHARDLAB_BACKENDS_CPU_ATTENTION_PACK_INL_H
#else
#define SHARDLAB_BACKENDS_CPU_ATTENTION_PACK_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "engine/backends/cpu/attention_kernels-inl.h"
#include "engine/backends/cpu/attention_tiles.h"

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu::attention_tiles {
namespace HWY_NAMESPACE {

/// Tokens of one head of one batch entry.
template <typename T>
struct HeadView {
  HeadView(const AttentionView<T>& view, std::int64_t batch, std::int64_t head)
      : data(view.data + batch * view.batch_stride + head * view.head_stride),
        token_stride(view.token_stride),
        width_stride(view.width_stride) {}

  [[nodiscard]] T* token(std::int64_t number) const { return data + number * token_stride; }

  T* data;
  std::int64_t token_stride;
  std::int64_t width_stride;
};

/// Copies tokens into rows, times `factor`, with zeros up to the stride.
template <typename T>
void pack_rows(const HeadView<const T>& from, std::int64_t start, std::int64_t tokens,
               std::int64_t width, T factor, Rows<T> to) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  const auto factors = hn::Set(d, factor);
  for (std::int64_t token = 0; token < tokens; ++token) {
    const T* const source = from.token(start + token);
    T* const row = to.data + token * to.stride;
    std::int64_t i = 0;
    if (from.width_stride == 1) {
      for (; i + lanes <= width; i += lanes)
        hn::StoreU(hn::Mul(hn::LoadU(d, source + i), factors), d, row + i);
    }
    for (; i < width; ++i) row[i] = source[i * from.width_stride] * factor;
    for (; i < to.stride; ++i) row[i] = 0;
  }
}

#if HWY_TARGET != HWY_SCALAR
/// Transposes 4 x 4 elements into rows `stride` apart.
HWY_INLINE void transpose_four(const float* a, const float* b, const float* c, const float* e,
                               float factor, float* to, std::int64_t stride) {
  const hn::FixedTag<float, 4> d;
  const hn::FixedTag<double, 2> pairs;
  const auto factors = hn::Set(d, factor);
  const auto row_a = hn::LoadU(d, a), row_b = hn::LoadU(d, b);
  const auto row_c = hn::LoadU(d, c), row_e = hn::LoadU(d, e);
  const auto ab_low = hn::BitCast(pairs, hn::InterleaveLower(d, row_a, row_b));
  const auto ab_high = hn::BitCast(pairs, hn::InterleaveUpper(d, row_a, row_b));
  const auto ce_low = hn::BitCast(pairs, hn::InterleaveLower(d, row_c, row_e));
  const auto ce_high = hn::BitCast(pairs, hn::InterleaveUpper(d, row_c, row_e));
  const auto put = [&](int row, auto quad) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::BitCast(d, quad), factors), d, to + row * stride);
  };
  put(0, hn::InterleaveLower(pairs, ab_low, ce_low));
  put(1, hn::InterleaveUpper(pairs, ab_low, ce_low));
  put(2, hn::InterleaveLower(pairs, ab_high, ce_high));
  put(3, hn::InterleaveUpper(pairs, ab_high, ce_high));
}
#endif

/// Copies tokens into columns, times `factor`: groups of tile_columns tokens, each group a matrix
/// of `width` rows; missing tokens of the last group are 0.
template <typename T>
void pack_columns(const HeadView<const T>& from, std::int64_t start, std::int64_t tokens,
                  std::int64_t width, T factor, T* to) {
  constexpr std::int64_t columns = tile_columns<T>;
  for (std::int64_t group = 0; group < tokens; group += columns, to += columns * width) {
    const std::int64_t count = std::min(columns, tokens - group);
    std::int64_t column = 0;
    const auto token = [&](std::int64_t number) { return from.token(start + group + number); };
#if HWY_TARGET != HWY_SCALAR
    if constexpr (std::is_same_v<T, float>) {
      for (; column + 4 <= count && from.width_stride == 1; column += 4) {
        std::int64_t i = 0;
        for (; i + 4 <= width; i += 4) {
          transpose_four(token(column) + i, token(column + 1) + i, token(column + 2) + i,
                         token(column + 3) + i, factor, to + i * columns + column, columns);
        }
        for (; i < width; ++i)
          for (int c = 0; c < 4; ++c) to[i * columns + column + c] = token(column + c)[i] * factor;
      }
    }
#endif
    for (; column < count; ++column) {
      for (std::int64_t i = 0; i < width; ++i)
        to[i * columns + column] = token(column)[i * from.width_stride] * factor;
    }
    for (std::int64_t i = 0; count < columns && i < width; ++i)
      std::fill(to + i * columns + count, to + (i + 1) * columns, T(0));
  }
}

/// Copies rows to tokens, times `factor`.
template <typename T>
void unpack_rows(Rows<const T> from, std::int64_t start, std::int64_t tokens, std::int64_t width,
                 T factor, const HeadView<T>& to) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  const auto factors = hn::Set(d, factor);
  for (std::int64_t token = 0; token < tokens; ++token) {
    const T* const row = from.data + token * from.stride;
    T* const target = to.token(start + token);
    std::int64_t i = 0;
    if (to.width_stride == 1) {
      for (; i + lanes <= width; i += lanes)
        hn::StoreU(hn::Mul(hn::Load(d, row + i), factors), d, target + i);
    }
    for (; i < width; ++i) target[i * to.width_stride] = row[i] * factor;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu::attention_tiles
HWY_AFTER_NAMESPACE();

#endif
