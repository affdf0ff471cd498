#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "engine/backends/cpu/attention_plan.h"
#include "engine/backends/cpu/attention_tiles.h"

// A register tile is an array of vectors, which those of unknown length cannot form.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backends/cpu/attention_backward.cpp"
#include <hwy/foreach_target.h>
// Highway needs this order.
#include <hwy/highway.h>

#include "engine/backends/cpu/attention_kernels-inl.h"
#include "engine/backends/cpu/attention_pack-inl.h"
#include "engine/backends/cpu/exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu::attention_tiles {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using cpu::HWY_NAMESPACE::exp_bounded;

/// The operands of one head.
template <typename T>
struct BackwardHead {
  HeadView<const T> q, k, v, out, out_gradient;
  HeadView<T> dq, dk, dv;
};

/// All queries of a head, packed, and the tiles of scores and keys that meet them.
template <typename T>
struct BackwardTiles {
  BackwardTiles(const AttentionSizes& sizes, std::byte* workspace)
      : key_width(sizes.key_width), value_width(sizes.value_width) {
    const BackwardPlan plan(sizes, sizeof(T));
    const auto at = [&](std::int64_t offset) { return reinterpret_cast<T*>(workspace + offset); };
    const std::int64_t padded_key_width = round_up(key_width, widest_vector);
    const std::int64_t padded_value_width = round_up(value_width, widest_vector);
    q = {at(plan.q_rows), padded_key_width};
    out_gradient = {at(plan.out_gradient_rows), padded_value_width};
    k = {at(plan.k_rows), padded_key_width};
    dq = {at(plan.dq), padded_key_width};
    dk = {at(plan.dk), padded_key_width};
    dv = {at(plan.dv), padded_value_width};
    weights = {at(plan.weights), score_stride(BackwardTile::keys)};
    score_gradients = {at(plan.score_gradients), score_stride(BackwardTile::keys)};
    k_columns = at(plan.k_columns);
    v_columns = at(plan.v_columns);
    lse = at(plan.lse);
    delta = at(plan.delta);
    // What pads a tile is never kept, but slow numbers in it would cost time.
    const std::int64_t padded_queries = round_up(sizes.queries, tile_rows);
    clear(q, sizes.queries, padded_queries);
    clear(out_gradient, sizes.queries, padded_queries);
    clear(weights, 0, BackwardTile::queries);
    clear(score_gradients, 0, BackwardTile::queries);
    std::fill(lse + sizes.queries, lse + padded_queries, T(0));
    std::fill(delta + sizes.queries, delta + padded_queries, T(0));
  }

  static void clear(Rows<T> rows, std::int64_t first, std::int64_t last) {
    std::fill(rows.data + first * rows.stride, rows.data + last * rows.stride, T(0));
  }

  std::int64_t key_width, value_width;
  Rows<T> q, out_gradient, k, dq, dk, dv, weights, score_gradients;
  T *k_columns, *v_columns, *lse, *delta;
};

template <typename T>
T dot(const T* a, std::int64_t a_stride, const T* b, std::int64_t b_stride, std::int64_t count) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  auto sums = hn::Zero(d);
  std::int64_t i = 0;
  if (a_stride == 1 && b_stride == 1) {
    for (; i + lanes <= count; i += lanes)
      sums = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), sums);
  }
  T sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; i < count; ++i) sum += a[i * a_stride] * b[i * b_stride];
  return sum;
}

/// Packs the queries of a head and finds delta = sum(out_gradient out) - lse_gradient of each.
template <typename T>
void pack_queries(BackwardTiles<T>& tiles, const BackwardHead<T>& head, std::int64_t queries,
                  T scale, const T* lse, const T* lse_gradient, std::int64_t lse_stride) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  pack_rows<T>(head.q, 0, queries, tiles.key_width, scale, tiles.q);
  pack_rows<T>(head.out_gradient, 0, queries, tiles.value_width, T(1), tiles.out_gradient);
  BackwardTiles<T>::clear(tiles.dq, 0, queries);
  for (std::int64_t query = 0; query < queries; ++query) {
    const T its_lse = lse[query * lse_stride];
    // A query that saw no key gets weights of exactly zero.
    const bool unseeing = its_lse == -infinity;
    tiles.lse[query] = unseeing ? infinity : its_lse;
    tiles.delta[query] = 0;
    if (unseeing) continue;
    tiles.delta[query] =
        dot(head.out.token(query), head.out.width_stride,
            tiles.out_gradient.data + query * tiles.out_gradient.stride, 1, tiles.value_width);
    if (lse_gradient != nullptr) tiles.delta[query] -= lse_gradient[query * lse_stride];
  }
}

/// Turns scores into weights, and gradients of weights into gradients of scores.
template <int kVectors, typename T>
HWY_INLINE void differentiate(const T* lse, const T* delta, Rows<T> weights, Rows<T> gradients) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  for (std::int64_t row = 0; row < tile_rows; ++row) {
    const auto row_lse = hn::Set(d, lse[row]);
    const auto row_delta = hn::Set(d, delta[row]);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      T* const weight = weights.data + row * weights.stride + v * lanes;
      T* const gradient = gradients.data + row * gradients.stride + v * lanes;
      const auto made = exp_bounded(d, hn::Sub(hn::Load(d, weight), row_lse));
      hn::Store(made, d, weight);
      hn::Store(hn::Mul(made, hn::Sub(hn::Load(d, gradient), row_delta)), d, gradient);
    }
  }
}

/// Adds what the packed tile of keys and the queries from `start` on give to dq, dk and dv.
template <typename T>
void add_queries(BackwardTiles<T>& tiles, std::int64_t start, std::int64_t queries,
                 std::int64_t keys) {
  constexpr std::int64_t columns = tile_columns<T>;
  const auto rows_from = [](const Rows<T>& rows, std::int64_t row) {
    return Rows<T>{rows.data + row * rows.stride, rows.stride};
  };
  const Rows<T> q = rows_from(tiles.q, start), gradient = rows_from(tiles.out_gradient, start);
  const Rows<T> weights = tiles.weights, score_gradients = tiles.score_gradients;
  for (std::int64_t group = 0; group < keys; group += columns) {
    const T* const k = tiles.k_columns + group * tiles.key_width;
    const T* const v = tiles.v_columns + group * tiles.value_width;
    for_each_column_tile<T>(
        std::min(columns, keys - group), [&](std::int64_t first, auto vectors) HWY_ATTR {
          for (std::int64_t row = 0; row < queries; row += tile_rows) {
            const auto at = [&](const Rows<T>& rows) {
              return Rows<T>{rows.data + row * rows.stride + group + first, rows.stride};
            };
            multiply_tile<vectors(), Finish::store, T>({q.data + row * q.stride, q.stride, 1},
                                                       {k + first, columns}, tiles.key_width,
                                                       at(weights));
            multiply_tile<vectors(), Finish::store, T>(
                {gradient.data + row * gradient.stride, gradient.stride, 1}, {v + first, columns},
                tiles.value_width, at(score_gradients));
            differentiate<vectors(), T>(tiles.lse + start + row, tiles.delta + start + row,
                                        at(weights), at(score_gradients));
          }
        });
  }
  accumulate_product<T>({weights.data, 1, weights.stride}, {gradient.data, gradient.stride}, keys,
                        tiles.value_width, queries, tiles.dv);
  accumulate_product<T>({score_gradients.data, 1, score_gradients.stride}, {q.data, q.stride}, keys,
                        tiles.key_width, queries, tiles.dk);
  accumulate_product<T>({score_gradients.data, score_gradients.stride, 1},
                        {tiles.k.data, tiles.k.stride}, queries, tiles.key_width, keys,
                        rows_from(tiles.dq, start));
}

template <typename T>
void backward_head(const AttentionSizes& sizes, BackwardTiles<T>& tiles,
                   const BackwardHead<T>& head) {
  using Tile = BackwardTile;
  for (std::int64_t key = 0; key < sizes.keys; key += Tile::keys) {
    const std::int64_t keys = std::min(Tile::keys, sizes.keys - key);
    pack_columns(head.k, key, keys, sizes.key_width, T(1), tiles.k_columns);
    pack_columns(head.v, key, keys, sizes.value_width, T(1), tiles.v_columns);
    pack_rows<T>(head.k, key, keys, sizes.key_width, static_cast<T>(sizes.scale), tiles.k);
    BackwardTiles<T>::clear(tiles.dk, 0, keys);
    BackwardTiles<T>::clear(tiles.dv, 0, keys);
    for (std::int64_t start = 0; start < sizes.queries; start += Tile::queries)
      add_queries(tiles, start, std::min(Tile::queries, sizes.queries - start), keys);
    unpack_rows<T>({tiles.dk.data, tiles.dk.stride}, key, keys, sizes.key_width, T(1), head.dk);
    unpack_rows<T>({tiles.dv.data, tiles.dv.stride}, key, keys, sizes.value_width, T(1), head.dv);
  }
  unpack_rows<T>({tiles.dq.data, tiles.dq.stride}, 0, sizes.queries, sizes.key_width, T(1),
                 head.dq);
}

template <typename T>
void backward(const AttentionSizes& sizes, const AttentionView<const T>& q,
              const AttentionView<const T>& k, const AttentionView<const T>& v,
              const AttentionView<const T>& out, const T* lse,
              const AttentionView<const T>& out_gradient, const T* lse_gradient,
              const AttentionView<T>& dq, const AttentionView<T>& dk, const AttentionView<T>& dv,
              std::byte* workspace) {
  BackwardTiles<T> tiles(sizes, workspace);
  for (std::int64_t pair = 0; pair < sizes.batch * sizes.heads; ++pair) {
    const std::int64_t batch = pair / sizes.heads, number = pair % sizes.heads;
    const BackwardHead<T> head{{q, batch, number},
                               {k, batch, number},
                               {v, batch, number},
                               {out, batch, number},
                               {out_gradient, batch, number},
                               {dq, batch, number},
                               {dk, batch, number},
                               {dv, batch, number}};
    const std::int64_t first = batch * sizes.queries * sizes.heads + number;
    pack_queries<T>(tiles, head, sizes.queries, static_cast<T>(sizes.scale), lse + first,
                    lse_gradient == nullptr ? nullptr : lse_gradient + first, sizes.heads);
    backward_head(sizes, tiles, head);
  }
}

void backward_float(const AttentionSizes& sizes, const AttentionView<const float>& q,
                    const AttentionView<const float>& k, const AttentionView<const float>& v,
                    const AttentionView<const float>& out, const float* lse,
                    const AttentionView<const float>& out_gradient, const float* lse_gradient,
                    const AttentionView<float>& dq, const AttentionView<float>& dk,
                    const AttentionView<float>& dv, std::byte* workspace) {
  backward(sizes, q, k, v, out, lse, out_gradient, lse_gradient, dq, dk, dv, workspace);
}

void backward_double(const AttentionSizes& sizes, const AttentionView<const double>& q,
                     const AttentionView<const double>& k, const AttentionView<const double>& v,
                     const AttentionView<const double>& out, const double* lse,
                     const AttentionView<const double>& out_gradient, const double* lse_gradient,
                     const AttentionView<double>& dq, const AttentionView<double>& dk,
                     const AttentionView<double>& dv, std::byte* workspace) {
  backward(sizes, q, k, v, out, lse, out_gradient, lse_gradient, dq, dk, dv, workspace);
}

}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu::attention_tiles
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardlab::cpu {
namespace attention_tiles {
namespace {

HWY_EXPORT(backward_float);
HWY_EXPORT(backward_double);

template <typename T>
auto* chosen_backward() {
  if constexpr (std::is_same_v<T, float>) {
    return HWY_DYNAMIC_DISPATCH(backward_float);
  } else {
    return HWY_DYNAMIC_DISPATCH(backward_double);
  }
}

}  // namespace
}  // namespace attention_tiles

template <typename T>
void attention_backward(const AttentionSizes& sizes, AttentionView<const T> q,
                        AttentionView<const T> k, AttentionView<const T> v,
                        AttentionView<const T> out, const T* lse,
                        AttentionView<const T> out_gradient, const T* lse_gradient,
                        AttentionView<T> dq, AttentionView<T> dk, AttentionView<T> dv,
                        std::byte* workspace) {
  attention_tiles::chosen_backward<T>()(sizes, q, k, v, out, lse, out_gradient, lse_gradient, dq,
                                        dk, dv, workspace);
}

template void attention_backward(const AttentionSizes&, AttentionView<const float>,
                                 AttentionView<const float>, AttentionView<const float>,
                                 AttentionView<const float>, const float*,
                                 AttentionView<const float>, const float*, AttentionView<float>,
                                 AttentionView<float>, AttentionView<float>, std::byte*);
template void attention_backward(const AttentionSizes&, AttentionView<const double>,
                                 AttentionView<const double>, AttentionView<const double>,
                                 AttentionView<const double>, const double*,
                                 AttentionView<const double>, const double*, AttentionView<double>,
                                 AttentionView<double>, AttentionView<double>, std::byte*);

}  // namespace shardlab::cpu
#endif
