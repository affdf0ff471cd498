#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "engine/backends/cpu/attention_plan.h"
#include "engine/backends/cpu/attention_tiles.h"

// A register tile is an array of vectors, which those of unknown length cannot form.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backends/cpu/attention_forward.cpp"
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

/// Softmax state of a tile of queries, and what it is made from.
template <typename T>
struct ForwardState {
  ForwardState(const AttentionSizes& sizes, std::byte* workspace)
      : key_width(sizes.key_width), value_width(round_up(sizes.value_width, widest_vector)) {
    const ForwardPlan plan(sizes, sizeof(T));
    const auto at = [&](std::int64_t offset) { return reinterpret_cast<T*>(workspace + offset); };
    q_columns = at(plan.q_columns);
    k_rows = at(plan.k_rows);
    v_rows = at(plan.v_rows);
    weights = {at(plan.weights), score_stride(ForwardTile::queries)};
    values = {at(plan.sums_of_values), value_width};
    maximum = at(plan.maximum);
    sum = at(plan.sum);
    tile_sum = at(plan.tile_sum);
    // What pads a tile is never kept, but slow numbers in it would cost time.
    std::fill(weights.data, weights.data + ForwardTile::keys * weights.stride, T(0));
  }

  void start() {
    constexpr std::int64_t queries = ForwardTile::queries;
    std::fill(maximum, maximum + queries, -std::numeric_limits<T>::infinity());
    std::fill(sum, sum + queries, T(0));
    std::fill(values.data, values.data + queries * values.stride, T(0));
  }

  std::int64_t key_width, value_width;
  T *q_columns, *k_rows, *v_rows;
  /// Of one tile of keys: a row a key, a column a query.
  Rows<T> weights;
  /// Weights times values, a row a query.
  Rows<T> values;
  /// What is subtracted from the scores of a query, the sum of its weights without those of the
  /// tile of keys at work, and the sum of these.
  T *maximum, *sum, *tile_sum;
};

/// How far scores may rise above the number subtracted from them before sums are rescaled.
template <typename T>
inline constexpr T allowed_rise = T(8);

/// Raises the maximum of a vector of queries, and rescales what they summed with the old one.
template <typename T>
HWY_NOINLINE void raise_maximum(ForwardState<T>& state, std::int64_t query, std::int64_t keys,
                                const T* newest) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  const auto old = hn::Load(d, state.maximum + query);
  const auto maximum = hn::Max(old, hn::Load(d, newest));
  const auto factor = exp_bounded(d, hn::Sub(old, maximum));
  hn::Store(maximum, d, state.maximum + query);
  const auto rescale = [&](T* vector)
                           HWY_ATTR { hn::Store(hn::Mul(hn::Load(d, vector), factor), d, vector); };
  rescale(state.sum + query);
  rescale(state.tile_sum + query);
  for (std::int64_t key = 0; key < keys; ++key)
    rescale(state.weights.data + key * state.weights.stride + query);
  HWY_ALIGN T factors[lanes];
  hn::Store(factor, d, factors);
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    T* const row = state.values.data + (query + lane) * state.values.stride;
    for (std::int64_t i = 0; i < state.values.stride; ++i) row[i] *= factors[lane];
  }
}

/// Makes the weights of tile_rows keys, from number `key` of the tile on, for kVectors vectors of
/// queries; only `valid` keys are there and count.
template <int kVectors, typename T>
HWY_NOINLINE void weigh(ForwardState<T>& state, LeftOperand<T> k, Rows<const T> q,
                        std::int64_t query, std::int64_t key, std::int64_t valid) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  const Rows<T> weights{state.weights.data + key * state.weights.stride + query,
                        state.weights.stride};
  V score[tile_rows][kVectors];
  multiply_in_registers<kVectors>(k, q, state.key_width, score);
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    const std::int64_t first = query + v * lanes;
    const V newest = hn::Max(hn::Max(hn::Max(score[0][v], score[1][v]), score[2][v]),
                             hn::Max(hn::Max(score[3][v], score[4][v]), score[5][v]));
    const V allowed = hn::Add(hn::Load(d, state.maximum + first), hn::Set(d, allowed_rise<T>));
    if (HWY_UNLIKELY(!hn::AllFalse(d, hn::Gt(newest, allowed)))) {
      HWY_ALIGN T kept[lanes];
      hn::Store(newest, d, kept);
      // Registers do not survive the call.
      store_tile<kVectors>(score, weights);
      raise_maximum(state, first, key, kept);
      load_tile<kVectors>(Rows<const T>{weights.data, weights.stride}, score);
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    const V maximum = hn::Load(d, state.maximum + query + v * lanes);
    V sum = hn::Zero(d);
#pragma GCC unroll 8
    for (int row = 0; row < tile_rows; ++row) {
      const V weight = exp_bounded(d, hn::Sub(score[row][v], maximum));
      hn::Store(weight, d, weights.data + row * weights.stride + v * lanes);
      if (row < valid) sum = hn::Add(sum, weight);
    }
    T* const total = state.tile_sum + query + v * lanes;
    hn::Store(hn::Add(hn::Load(d, total), sum), d, total);
  }
}

/// Adds a tile of keys to what the queries summed.
template <typename T>
void add_keys(ForwardState<T>& state, std::int64_t queries, const T* k_rows, const T* v_rows,
              std::int64_t keys, std::int64_t value_width) {
  constexpr std::int64_t columns = tile_columns<T>;
  std::fill(state.tile_sum, state.tile_sum + ForwardTile::queries, T(0));
  for (std::int64_t group = 0; group < queries; group += columns) {
    const T* const q = state.q_columns + group * state.key_width;
    for_each_column_tile<T>(
        std::min(columns, queries - group), [&](std::int64_t first, auto vectors) {
          for (std::int64_t key = 0; key < keys; key += tile_rows) {
            weigh<vectors(), T>(state, {k_rows + key * state.key_width, state.key_width, 1},
                                {q + first, columns}, group + first, key, keys - key);
          }
        });
  }
  for (std::int64_t query = 0; query < queries; ++query) state.sum[query] += state.tile_sum[query];
  accumulate_product<T>({state.weights.data, 1, state.weights.stride}, {v_rows, state.value_width},
                        queries, value_width, keys, state.values);
}

template <typename T>
void forward(const AttentionSizes& sizes, const AttentionView<const T>& q,
             const AttentionView<const T>& k, const AttentionView<const T>& v,
             const AttentionView<T>& out, T* lse, std::byte* workspace) {
  using Tile = ForwardTile;
  ForwardState<T> state(sizes, workspace);
  for (std::int64_t pair = 0; pair < sizes.batch * sizes.heads; ++pair) {
    const std::int64_t batch = pair / sizes.heads, head = pair % sizes.heads;
    const HeadView<const T> q_head(q, batch, head), k_head(k, batch, head), v_head(v, batch, head);
    const HeadView<T> out_head(out, batch, head);
    pack_rows<T>(k_head, 0, sizes.keys, sizes.key_width, T(1), {state.k_rows, sizes.key_width});
    // Copies of the last key fill the register tile and leave every maximum as it is.
    for (std::int64_t row = sizes.keys; sizes.keys > 0 && row % tile_rows != 0; ++row) {
      pack_rows<T>(k_head, sizes.keys - 1, 1, sizes.key_width, T(1),
                   {state.k_rows + row * sizes.key_width, sizes.key_width});
    }
    pack_rows<T>(v_head, 0, sizes.keys, sizes.value_width, T(1), {state.v_rows, state.value_width});
    for (std::int64_t start = 0; start < sizes.queries; start += Tile::queries) {
      const std::int64_t queries = std::min(Tile::queries, sizes.queries - start);
      pack_columns(q_head, start, queries, sizes.key_width, static_cast<T>(sizes.scale),
                   state.q_columns);
      state.start();
      for (std::int64_t key = 0; key < sizes.keys; key += Tile::keys) {
        add_keys(state, queries, state.k_rows + key * state.key_width,
                 state.v_rows + key * state.value_width, std::min(Tile::keys, sizes.keys - key),
                 sizes.value_width);
      }
      for (std::int64_t query = 0; query < queries; ++query) {
        const T sum = state.sum[query];
        const T factor = sizes.keys == 0 ? T(0) : T(1) / sum;
        unpack_rows<T>({state.values.data + query * state.value_width, state.value_width},
                       start + query, 1, sizes.value_width, factor, out_head);
        lse[(batch * sizes.queries + start + query) * sizes.heads + head] =
            state.maximum[query] + std::log(sum);
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
}  // namespace shardlab::cpu::attention_tiles
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardlab::cpu {
namespace attention_tiles {
namespace {

HWY_EXPORT(forward_float);
HWY_EXPORT(forward_double);

template <typename T>
auto* chosen_forward() {
  if constexpr (std::is_same_v<T, float>) {
    return HWY_DYNAMIC_DISPATCH(forward_float);
  } else {
    return HWY_DYNAMIC_DISPATCH(forward_double);
  }
}

}  // namespace
}  // namespace attention_tiles

template <typename T>
void attention_forward(const AttentionSizes& sizes, AttentionView<const T> q,
                       AttentionView<const T> k, AttentionView<const T> v, AttentionView<T> out,
                       T* lse, std::byte* workspace) {
  attention_tiles::chosen_forward<T>()(sizes, q, k, v, out, lse, workspace);
}

template void attention_forward(const AttentionSizes&, AttentionView<const float>,
                                AttentionView<const float>, AttentionView<const float>,
                                AttentionView<float>, float*, std::byte*);
template void attention_forward(const AttentionSizes&, AttentionView<const double>,
                                AttentionView<const double>, AttentionView<const double>,
                                AttentionView<double>, double*, std::byte*);

}  // namespace shardlab::cpu
#endif
