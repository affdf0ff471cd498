#include "engine/nn/ring_attention.h"

#include "engine/dispatch/dispatch.h"
#include "engine/ops/pieces.h"
#include "engine/ops/reshape.h"
#include "tests/engine/nn/attention_case.h"

namespace shardlab::test {
namespace {

using Sizes = std::vector<std::int64_t>;

std::int64_t total(const Sizes& sizes) {
  std::int64_t sum = 0;
  for (const std::int64_t size : sizes) sum += size;
  return sum;
}

/// Self-attention with q, k and v cut alike, in both dtypes.
void expect_dense_on(const Sizes& tokens) {
  HeadExtents extents;
  extents.queries = extents.keys = total(tokens);
  const Heads heads = heads_of(extents);
  expect_dense(heads, on_line(tokens, tokens));
  expect_dense(heads, on_line(tokens, tokens), Dtype::float32);
}

TEST(RingAttention, E03_E05_EvenTokensOnTwoThreeAndFourRanksEqualDense) {
  expect_dense_on({4, 4});
  expect_dense_on({3, 3, 3});
  expect_dense_on({2, 2, 2, 2});
}

TEST(RingAttention, E06_E12_UnevenTokensEqualDenseWithoutPadding) {
  expect_dense_on({3, 2});
  expect_dense_on({4, 4, 3});
  expect_dense_on({2, 3, 4, 5});
  expect_dense_on({5, 1, 1, 6});
}

TEST(RingAttention, RanksWithoutTokensTakePart) {
  expect_dense_on({0, 5, 0});
  expect_dense_on({5, 0});
  expect_dense_on({0, 0, 0, 7});
  expect_dense_on({3, 0, 0, 4});
}

TEST(RingAttention, E08_FewerTokensThanRanksEqualDense) {
  expect_dense_on({1, 0, 0});
  expect_dense_on({0, 1, 0});
  expect_dense_on({1, 1, 1, 0});
  expect_dense_on({1, 0, 1, 1});
}

TEST(RingAttention, MoreTokensThanATileEqualDense) {
  HeadExtents extents;
  extents.batch = 1;
  extents.queries = extents.keys = 300;
  extents.width = extents.value_width = 16;
  expect_dense(heads_of(extents), on_line({130, 41, 129}, {130, 41, 129}));
  expect_dense(heads_of(extents), on_line({130, 41, 129}, {130, 41, 129}), Dtype::float32);
}

TEST(RingAttention, QueriesMayBeCutOtherwiseThanKeys) {
  const Heads heads = heads_of({});
  expect_dense(heads, on_line({3, 5}, {5, 3}));
  expect_dense(heads, on_line({8, 0}, {0, 8}));
  expect_dense(heads, on_line({1, 7, 0}, {4, 2, 2}));
}

TEST(RingAttention, QueriesMayBeOtherThanKeysInNumber) {
  HeadExtents extents;
  extents.queries = 3;
  extents.keys = 9;
  expect_dense(heads_of(extents), on_line({2, 0, 1}, {2, 4, 3}));
  extents.queries = 9;
  extents.keys = 2;
  expect_dense(heads_of(extents), on_line({2, 4, 3}, {1, 0, 1}));
  extents.queries = 0;
  expect_dense(heads_of(extents), on_line({0, 0, 0}, {1, 0, 1}));
}

TEST(RingAttention, WholeQueriesAreCutLikeTheRing) {
  expect_dense(heads_of({}), {"domain=3", {{}, cut(1, {3, 3, 2}), cut(1, {3, 3, 2})}});
  expect_dense(heads_of({}), {"domain=3", {{}, cut(1, {0, 8, 0}), cut(1, {0, 8, 0})}});
}

TEST(RingAttention, OperandsThatLieElsewhereComeToTheKeys) {
  const Placed tokens = cut(1, {3, 5});
  const Placed pending{{}, {0}, Reduction::sum};
  expect_dense(heads_of({}), {"domain=2", {tokens, tokens, {}}});
  expect_dense(heads_of({}), {"domain=2", {tokens, tokens, cut(1, {5, 3})}});
  expect_dense(heads_of({}), {"domain=2", {cut(0, {1, 1}), tokens, cut(2, {2, 0})}});
  expect_dense(heads_of({}), {"domain=2", {pending, tokens, pending}});
  expect_dense(heads_of({}), {"domain=2", {tokens, pending, tokens}});
  expect_dense(heads_of({}), {"domain=2", {tokens, {}, tokens}});
}

TEST(RingAttention, BatchOnOneAxisAndTokensOnAnotherEqualDense) {
  HeadExtents extents;
  extents.batch = 3;
  for (const Sizes& batch : {Sizes{2, 1}, Sizes{0, 3}})
    for (const Sizes& tokens : {Sizes{4, 4}, Sizes{3, 5}, Sizes{0, 8}}) {
      const Placed placed{{{0, {0}, batch}, {1, {1}, tokens}}, {}, Reduction::sum};
      expect_dense(heads_of(extents), {"data=2,domain=2", {placed, placed, placed}});
    }
}

TEST(RingAttention, HeadsOnOneAxisAndTokensOnAnotherEqualDense) {
  HeadExtents extents;
  extents.heads = 3;
  const Placed placed{{{2, {0}, {1, 2}}, {1, {1}, {3, 5}}}, {}, Reduction::sum};
  expect_dense(heads_of(extents), {"tensor=2,domain=2", {placed, placed, placed}});
}

TEST(RingAttention, TokensCutByTwoAxesInEitherOrderEqualDense) {
  for (const AxisList& axes : {AxisList{0, 1}, AxisList{1, 0}})
    for (const Sizes& tokens : {Sizes{2, 2, 2, 2}, Sizes{1, 0, 3, 4}}) {
      const Placed placed{{{1, axes, tokens}}, {}, Reduction::sum};
      expect_dense(heads_of({}), {"data=2,domain=2", {placed, placed, placed}});
    }
  const Placed one{{{1, {0, 1}, {1, 0, 3, 4}}}, {}, Reduction::sum};
  const Placed other{{{1, {1, 0}, {1, 0, 3, 4}}}, {}, Reduction::sum};
  expect_dense(heads_of({}), {"data=2,domain=2", {one, other, one}});
}

TEST(RingAttention, ValuesMayBeWiderOrNarrowerThanKeys) {
  HeadExtents extents;
  for (const std::int64_t width : {1, 3, 9}) {
    extents.value_width = width;
    expect_dense(heads_of(extents), on_line({3, 1, 4}, {3, 1, 4}));
    expect_dense(heads_of(extents), on_line({3, 1, 4}, {3, 1, 4}), Dtype::float32);
  }
}

TEST(RingAttention, Peers_AChannelOfValuesThatIsZeroStaysZero) {
  Heads heads = heads_of({});
  for (std::int64_t i = 0; i < heads.v.shape.count(); i += heads.v.shape[3]) heads.v[i] = 0;
  for (const Dtype dtype : {Dtype::float64, Dtype::float32}) {
    expect_dense(heads, on_line({2, 3, 3}, {2, 3, 3}), dtype);
    const OpResult found = run_case(attention_case(heads), on_line({2, 3, 3}, {2, 3, 3}), dtype)[0];
    for (std::int64_t i = 0; i < found.outputs[0].shape.count(); i += heads.v.shape[3])
      EXPECT_EQ(found.outputs[0][i], 0);
  }
}

TEST(RingAttention, Peers_ValuesThatAreAllZeroGiveZeroAndFiniteGradients) {
  Heads heads = heads_of({});
  heads.v = zeros(heads.v.shape);
  expect_dense(heads, on_line({2, 3, 3}, {2, 3, 3}));
  expect_dense(heads, on_line({2, 3, 3}, {2, 3, 3}), Dtype::float32);
}

TEST(RingAttention, E17_NoKeysAtAllGiveZeroAndMinusInfinity) {
  HeadExtents extents;
  extents.keys = 0;
  expect_dense(heads_of(extents), on_line({3, 5}, {0, 0}));
  expect_dense(heads_of(extents), on_line({8, 0, 0}, {0, 0, 0}), Dtype::float32);
}

TEST(RingAttention, ScoresOfTenThousandEqualDense) {
  Heads heads = heads_of({});
  heads.scale = 1e4;
  expect_dense(heads, on_line({2, 3, 3}, {2, 3, 3}));
  // In float32 such a score is off by 1e-3.
  const OpResult dense = dense_result(heads);
  for (const OpResult& rank :
       run_case(attention_case(heads), on_line({2, 3, 3}, {2, 3, 3}), Dtype::float32))
    for (std::size_t o = 0; o < dense.outputs.size(); ++o)
      EXPECT_TRUE(close(rank.outputs[o], dense.outputs[o], 1e-2));
}

TEST(RingAttention, E02_ABlockFarBelowTheOthersWeighsNothing) {
  // Keys of the middle block have scores near -100, -1e4 or 100 beside 0.
  for (const double score : {-100.0, -1e4, 100.0}) {
    Heads heads = heads_of({});
    heads.scale = 1;
    for (double& x : heads.q.data) x = 0.5 + 0.01 * x;
    for (std::int64_t b = 0; b < 2; ++b)
      for (std::int64_t t = 3; t < 5; ++t)
        for (std::int64_t c = 0; c < 8; ++c) heads.k[(b * 8 + t) * 8 + c] = score / 2;
    expect_dense(heads, on_line({3, 2, 3}, {3, 2, 3}));
    expect_dense(heads, on_line({3, 2, 3}, {3, 2, 3}), Dtype::float32);
  }
}

TEST(RingAttention, StridedPiecesOfOneTensorEqualDense) {
  const std::int64_t batch = 2;
  const std::int64_t tokens = 7;
  const std::int64_t width = 8;
  const Values all = numbers({batch, tokens, 3 * width}, 5);
  const Shape split{batch, tokens, 2, 4};
  Heads heads{zeros(split), zeros(split), zeros(split), {}};
  const std::array<Values*, 3> parts{&heads.q, &heads.k, &heads.v};
  for (std::int64_t t = 0; t < batch * tokens; ++t)
    for (std::int64_t c = 0; c < 3 * width; ++c)
      (*parts[c / width])[t * width + c % width] = all[t * 3 * width + c];
  OpCase op_case = attention_case(heads);
  op_case.inputs = {{all}};
  op_case.call = [call = op_case.call, split](std::span<const Tensor> in) {
    std::vector<Tensor> qkv = pieces(in[0], -1, {8, 8, 8});
    for (Tensor& part : qkv) part = reshape(part, split);
    return call(qkv);
  };
  const OpResult dense = dense_result(heads);
  Values expected = zeros(all.shape);
  for (std::int64_t t = 0; t < batch * tokens; ++t)
    for (std::int64_t c = 0; c < 3 * width; ++c)
      expected[t * 3 * width + c] = dense.gradients[c / width][t * width + c % width];
  for (const Sizes& sizes : {Sizes{3, 2, 2}, Sizes{0, 6, 1}}) {
    const OpResult found = run_case(op_case, {"domain=3", {cut(1, sizes)}})[0];
    EXPECT_TRUE(close(found.outputs[0], dense.outputs[0], 1e-10));
    EXPECT_TRUE(close(found.outputs[1], dense.outputs[1], 1e-10));
    EXPECT_TRUE(close(found.gradients[0], expected, 1e-10));
  }
}

TEST(RingAttention, OneCotangentAloneIsEnough) {
  const Heads heads = heads_of({});
  const Shape rows{2, 8, 2};
  const std::array<OpResult, 2> dense{dense_result(heads, seed_of(heads.q.shape, 0), zeros(rows)),
                                      dense_result(heads, zeros(heads.q.shape), seed_of(rows, 0))};
  for (const std::size_t kept : {0, 1}) {
    OpCase op_case = attention_case(heads);
    op_case.call = [call = op_case.call, kept](std::span<const Tensor> in) {
      return std::vector<Tensor>{call(in)[kept]};
    };
    const OpResult found = run_case(op_case, on_line({2, 3, 3}, {4, 0, 4}))[0];
    EXPECT_TRUE(close(found.outputs[0], dense[kept].outputs[kept], 1e-10));
    for (std::size_t g = 0; g < 3; ++g)
      EXPECT_TRUE(close(found.gradients[g], dense[kept].gradients[g], 1e-10)) << g;
  }
}

TEST(RingAttention, E06_TheSameRunTwiceGivesTheSameBits) {
  for (const Dtype dtype : {Dtype::float64, Dtype::float32}) {
    const auto run = [&] {
      return run_case(attention_case(heads_of({})), on_line({1, 2, 5}, {3, 3, 2}), dtype)[0];
    };
    const OpResult first = run();
    const OpResult second = run();
    for (std::size_t o = 0; o < 2; ++o) EXPECT_TRUE(same(first.outputs[o], second.outputs[o]));
    for (std::size_t g = 0; g < 3; ++g) EXPECT_TRUE(same(first.gradients[g], second.gradients[g]));
  }
}

TEST(RingAttention, SecondOrderIsRefusedByNameOnEveryRank) {
  World world;
  world.mesh = "domain=3";
  const Heads heads = heads_of({});
  EXPECT_EQ(
      refusal_of(
          world,
          [&](Worker& worker) {
            const Placed tokens = cut(1, {1, 2, 5});
            const Tensor q = make(worker, heads.q, tokens, true);
            const Tensor k = make(worker, heads.k, tokens);
            const Tensor v = make(worker, heads.v, tokens);
            const Tensor y = nn::ring_attention(q, k, v, 1).output;
            const Tensor seed = make(worker, seed_of(y.shape(), 0));
            (void)gradients(std::span(&y, 1), std::span(&q, 1), std::span(&seed, 1), {true, 0});
          }),
      "unsupported: ring_attention: its gradient has none of its own");
}

TEST(RingAttention, OperandsThatDoNotFitAreNamedOnEveryRank) {
  World world;
  world.mesh = "domain=2";
  const auto text = [&](const Shape& q, const Shape& k, const Shape& v, const Placed& keys) {
    return refusal_of(world, [&](Worker& worker) {
      (void)nn::ring_attention(make(worker, numbers(q)), make(worker, numbers(k), keys),
                               make(worker, numbers(v)), 1);
    });
  };
  EXPECT_EQ(text({1, 4, 2, 3}, {1, 4, 2, 3}, {1, 5, 2, 3}, cut(1, {2, 2})),
            "invalid: ring_attention: q [1, 4, 2, 3], k [1, 4, 2, 3] and v [1, 5, 2, 3] do not "
            "fit");
  EXPECT_EQ(text({1, 4, 2, 3}, {1, 4, 2, 5}, {1, 4, 2, 3}, cut(1, {2, 2})),
            "invalid: ring_attention: q [1, 4, 2, 3], k [1, 4, 2, 5] and v [1, 4, 2, 3] do not "
            "fit");
  EXPECT_EQ(text({1, 4, 2, 3}, {1, 4, 2, 3}, {1, 4, 2, 3}, {}),
            "invalid: ring_attention: the tokens of k are not cut");
}

TEST(RingAttention, ATensorOfThisRankAloneIsRefusedOnEveryRank) {
  World world;
  world.mesh = "domain=2";
  for (const int which : {0, 1, 2})
    EXPECT_EQ(refusal_of(world,
                         [&](Worker& worker) {
                           std::array<Tensor, 3> qkv;
                           qkv.fill(make(worker, heads_of({}).k, cut(1, {4, 4})));
                           qkv[which] = local(qkv[which]);
                           (void)nn::ring_attention(qkv[0], qkv[1], qkv[2], 1);
                         }),
              "invalid: ring_attention: q, k and v must be whole tensors, found one of this rank "
              "alone");
}

}  // namespace
}  // namespace shardlab::test
