#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/backends/cpu/attention_plan.h"
#include "engine/backends/cpu/attention_tiles.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backends/cpu/attention_forward.cpp"
#include <hwy/foreach_target.h>
// Highway needs this order.
#include <hwy/highway.h>

#include "engine/backends/cpu/attention_kernels-inl.h"
#include "engine/backends/cpu/exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Softmax state of a block of queries and the tiles it is made from.
template <typename T>
struct ForwardBlock {
  ForwardBlock(const AttentionSizes& sizes, std::byte* workspace)
      : key_width(sizes.key_width), value_width(round_up(sizes.value_width, widest_vector)) {
    const ForwardPlan plan(sizes, sizeof(T));
    const auto at = [&](std::int64_t offset) { return reinterpret_cast<T*>(workspace + offset); };
    q_columns = at(plan.q_columns);
    k_rows = at(plan.k_rows);
    v_rows = at(plan.v_rows);
    scores = {at(plan.scores), score_stride(ForwardTile::queries)};
    values = {at(plan.sums_of_values), value_width};
    maximum = at(plan.maximum);
    newest = at(plan.newest);
    sum = at(plan.sum);
    std::fill(scores.data, scores.data + ForwardTile::keys * scores.stride, T(0));
  }

  std::int64_t key_width, value_width;
  T *q_columns, *k_rows, *v_rows;
  Rows<T> scores;
  Rows<T> values;
  T *maximum, *newest, *sum;
};

/// How far scores may rise above the number subtracted from them before sums are rescaled.
template <typename T>
inline constexpr T allowed_rise = T(8);

/// Turns scores, one query a column, into weights, adds them to `sum`, and rescales what was summed
/// before, and the weights of the tile's `earlier` keys, if a new maximum asks for it.
template <int kVectors, typename T>
HWY_INLINE void weigh(ForwardBlock<T>& block, std::int64_t first, Rows<T> scores,
                      std::int64_t earlier, std::int64_t keys) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  V maximum[kVectors], sum[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    const std::int64_t column = first + v * lanes;
    const V known = hn::Load(d, block.maximum + column);
    const V newest = hn::Load(d, block.newest + column);
    sum[v] = hn::Zero(d);
    const auto risen = hn::Gt(newest, hn::Add(known, hn::Set(d, allowed_rise<T>)));
    maximum[v] = hn::IfThenElse(risen, newest, known);
    if (HWY_LIKELY(hn::AllFalse(d, risen))) continue;
    const V factor = exp_bounded(d, hn::Sub(known, maximum[v]));
    hn::Store(maximum[v], d, block.maximum + column);
    hn::Store(hn::Mul(hn::Load(d, block.sum + column), factor), d, block.sum + column);
    for (std::int64_t key = -earlier; key < 0; ++key) {
      T* const weights = scores.data + key * scores.stride + v * lanes;
      hn::Store(hn::Mul(hn::Load(d, weights), factor), d, weights);
    }
    HWY_ALIGN T factors[lanes];
    hn::Store(factor, d, factors);
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      T* const row = block.values.data + (column + lane) * block.values.stride;
      for (std::int64_t i = 0; i < block.values.stride; ++i) row[i] *= factors[lane];
    }
  }
  for (std::int64_t key = 0; key < keys; ++key) {
    T* const row = scores.data + key * scores.stride;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const V weight =
          exp_bounded(d, hn::Sub(hn::Load(d, row + v * lanes), maximum[v]));
      sum[v] = hn::Add(sum[v], weight);
      hn::Store(weight, d, row + v * lanes);
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    T* const total = block.sum + first + v * lanes;
    hn::Store(hn::Add(hn::Load(d, total), sum[v]), d, total);
  }
}

/// Adds a tile of keys to the block.
template <typename T>
void add_keys(ForwardBlock<T>& block, std::int64_t queries, std::int64_t first_key,
              std::int64_t keys, std::int64_t value_width) {
  constexpr std::int64_t columns = tile_columns<T>;
  const T* const k = block.k_rows + first_key * block.key_width;
  for (std::int64_t group = 0; group < queries; group += columns) {
    const T* const q = block.q_columns + group * block.key_width;
    for_each_column_tile<T>(
        std::min(columns, queries - group), [&](std::int64_t first, auto vectors) {
          const Rows<T> scores{block.scores.data + group + first, block.scores.stride};
          T* const newest = block.newest + group + first;
          for (std::int64_t key = 0; key < keys; key += ForwardTile::strip) {
            const std::int64_t count = std::min(ForwardTile::strip, keys - key);
            for (std::int64_t row = key; row < key + count; row += tile_rows) {
              multiply_tile<vectors(), Finish::store_and_maximum, T>(
                  {k + row * block.key_width, block.key_width, 1}, {q + first, columns},
                  block.key_width, {scores.data + row * scores.stride, scores.stride}, newest);
            }
            weigh<vectors(), T>(block, group + first,
                                {scores.data + key * scores.stride, scores.stride}, key, count);
          }
        });
  }
  accumulate_product<T>({block.scores.data, 1, block.scores.stride},
                        {block.v_rows + first_key * block.value_width, block.value_width}, queries,
                        value_width, keys,
                        block.values);
}

template <typename T>
void forward(const AttentionSizes& sizes, const AttentionView<const T>& q,
             const AttentionView<const T>& k, const AttentionView<const T>& v,
             const AttentionView<T>& out, T* lse, std::byte* workspace) {
  using Tile = ForwardTile;
  ForwardBlock<T> block(sizes, workspace);
  for (std::int64_t pair = 0; pair < sizes.batch * sizes.heads; ++pair) {
    const std::int64_t batch = pair / sizes.heads, head = pair % sizes.heads;
    const HeadView<const T> q_head(q, batch, head), k_head(k, batch, head), v_head(v, batch, head);
    const HeadView<T> out_head(out, batch, head);
    pack_rows<T>(k_head, 0, sizes.keys, sizes.key_width, T(1), {block.k_rows, sizes.key_width});
    // Copies of the last key fill the register tile and leave every maximum as it is.
    for (std::int64_t row = sizes.keys; sizes.keys > 0 && row % tile_rows != 0; ++row) {
      pack_rows<T>(k_head, sizes.keys - 1, 1, sizes.key_width, T(1),
                   {block.k_rows + row * sizes.key_width, sizes.key_width});
    }
    pack_rows<T>(v_head, 0, sizes.keys, sizes.value_width, T(1), {block.v_rows, block.value_width});
    for (std::int64_t start = 0; start < sizes.queries; start += Tile::queries) {
      const std::int64_t queries = std::min(Tile::queries, sizes.queries - start);
      pack_columns(q_head, start, queries, sizes.key_width, static_cast<T>(sizes.scale),
                   block.q_columns);
      std::fill(block.maximum, block.maximum + Tile::queries, -std::numeric_limits<T>::infinity());
      std::fill(block.newest, block.newest + Tile::queries, -std::numeric_limits<T>::infinity());
      std::fill(block.sum, block.sum + Tile::queries, T(0));
      std::fill(block.values.data, block.values.data + Tile::queries * block.values.stride, T(0));
      for (std::int64_t key = 0; key < sizes.keys; key += Tile::keys)
        add_keys(block, queries, key, std::min(Tile::keys, sizes.keys - key), sizes.value_width);
      for (std::int64_t query = 0; query < queries; ++query) {
        const T sum = block.sum[query];
        const T factor = sizes.keys == 0 ? T(0) : T(1) / sum;
        unpack_rows<T>({block.values.data + query * block.value_width, block.value_width},
                       start + query, 1, sizes.value_width, factor, out_head);
        lse[(batch * sizes.queries + start + query) * sizes.heads + head] =
            block.maximum[query] + std::log(sum);
      }
    }
  }
}

void forward_float(const AttentionSizes& sizes, const AttentionView<const float>& q,
                   const AttentionView<const float>& k, const AttentionView<const float>& v,
                   const AttentionView<float>& out, float* lse, std::byte* workspace) {
  forward<float>(sizes, q, k, v, out, lse, workspace);
}

void forward_double(const AttentionSizes& sizes, const AttentionView<const double>& q,
                    const AttentionView<const double>& k, const AttentionView<const double>& v,
                    const AttentionView<double>& out, double* lse, std::byte* workspace) {
  forward<double>(sizes, q, k, v, out, lse, workspace);
}

}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardlab::cpu {
namespace {
HWY_EXPORT(forward_float);
HWY_EXPORT(forward_double);
}  // namespace

template <>
void attention_forward(const AttentionSizes& sizes, AttentionView<const float> q,
                       AttentionView<const float> k, AttentionView<const float> v,
                       AttentionView<float> out, float* lse, std::byte* workspace) {
  HWY_DYNAMIC_DISPATCH(forward_float)(sizes, q, k, v, out, lse, workspace);
}

template <>
void attention_forward(const AttentionSizes& sizes, AttentionView<const double> q,
                       AttentionView<const double> k, AttentionView<const double> v,
                       AttentionView<double> out, double* lse, std::byte* workspace) {
  HWY_DYNAMIC_DISPATCH(forward_double)(sizes, q, k, v, out, lse, workspace);
}

}  // namespace shardlab::cpu
#endif
