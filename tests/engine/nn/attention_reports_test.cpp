#include <algorithm>

#include "engine/core/check.h"
#include "engine/dispatch/create.h"
#include "engine/dispatch/dispatch.h"
#include "engine/dispatch/intrinsic.h"
#include "engine/nn/attention.h"
#include "engine/nn/ring_attention.h"
#include "engine/ops/attention_merge.h"
#include "tests/engine/nn/attention_case.h"

namespace shardlab::test {
namespace {

using Sizes = std::vector<std::int64_t>;

Heads tokens_of(std::int64_t tokens, std::int64_t width) {
  HeadExtents extents{1, tokens, tokens, 1, width, width};
  return heads_of(extents);
}

TEST(RingAttention, E05_GradientsInFloat32AreWithin1e5OfOneDevice) {
  const Heads heads = tokens_of(64, 64);
  const OpResult dense = dense_result(heads);
  for (const Sizes& tokens : {Sizes{32, 32}, Sizes{41, 23}, Sizes{64, 0}}) {
    const OpResult found =
        run_case(attention_case(heads), on_line(tokens, tokens), Dtype::float32)[0];
    for (std::size_t g = 0; g < 3; ++g)
      EXPECT_TRUE(close(found.gradients[g], dense.gradients[g], 1e-5)) << tokens[0] << ": " << g;
  }
}

TEST(RingAttention, E06_698TokensOnFourRanksEqualDense) {
  expect_dense(tokens_of(698, 4), on_line({175, 175, 174, 174}, {175, 175, 174, 174}));
  expect_dense(tokens_of(698, 4), on_line({176, 176, 176, 170}, {176, 176, 176, 170}),
               Dtype::float32);
}

TEST(RingAttention, E08_ThreeTokensOnTwoRanksEqualDense) {
  for (const Sizes& tokens : {Sizes{2, 1}, Sizes{1, 2}, Sizes{3, 0}}) {
    expect_dense(tokens_of(3, 4), on_line(tokens, tokens));
    expect_dense(tokens_of(3, 4), on_line(tokens, tokens), Dtype::float32);
  }
}

TEST(RingAttention, E12_57826TokensOnEightRanksAre57826AgainAndNoKeyIsPadded) {
  World world;
  world.mesh = "domain=8";
  world.meta = true;
  world.dtype = Dtype::float32;
  constexpr std::int64_t tokens = 57826;
  const std::vector<std::int64_t> flop = on_ranks<std::int64_t>(world, [](Worker& worker) {
    const shardlab::Cut along{"domain", 1, 1};
    const Spec spec = spread(worker, {1, tokens, 1, 4}, Dtype::float32, std::span(&along, 1));
    const Tensor x = allocate(worker, spec, Category::activation);
    const NoGrad no_grad(worker);
    worker.trace().keep(true);
    const Tensor y = nn::attention(x, x, x, {}).output;
    EXPECT_EQ(y.shape(), (Shape{1, tokens, 1, 4}));
    EXPECT_EQ(y.layout(), x.layout());
    std::int64_t attended = 0;
    for (const Step& step : worker.trace().steps())
      if (std::string(step.op) == "attention") attended += step.flop;
    return attended;
  });
  std::int64_t all = 0;
  for (const std::int64_t rank : flop) all += rank;
  EXPECT_EQ(all, 4 * tokens * tokens * 4);
  // Seven times 7228 rows would leave one out, eight times 7229 pad by six.
  EXPECT_EQ(flop.front(), 4 * 7229 * tokens * 4);
  EXPECT_EQ(flop.back(), 4 * 7228 * tokens * 4);
}

/// Values of `a` and then `b` along tokens.
Values along_tokens(const Values& a, const Values& b) {
  Shape shape = a.shape;
  shape[1] += b.shape[1];
  Values y = zeros(shape);
  const std::int64_t inner = shape[2] * shape[3];
  for (std::int64_t i = 0; i < shape.count(); ++i) {
    const std::int64_t sample = i / (shape[1] * inner);
    const std::int64_t token = i / inner % shape[1];
    const Values& from = token < a.shape[1] ? a : b;
    const std::int64_t at = token < a.shape[1] ? token : token - a.shape[1];
    y[i] = from[(sample * from.shape[1] + at) * inner + i % inner];
  }
  return y;
}

/// Queries of an image that read two keys of a text and six of the image.
struct Joint {
  Values q = numbers({2, 6, 2, 4}, 1);
  Values text_k = numbers({2, 2, 2, 4}, 2);
  Values text_v = numbers({2, 2, 2, 4}, 3);
  Values k = numbers({2, 6, 2, 4}, 4);
  Values v = numbers({2, 6, 2, 4}, 5);
};

OpCase joint_case(const Joint& joint, bool by_merge) {
  OpCase op_case;
  op_case.name = "joint";
  op_case.inputs = {{joint.q}, {joint.text_k}, {joint.text_v}, {joint.k}, {joint.v}};
  op_case.call = [by_merge](std::span<const Tensor> in) {
    Attended y;
    if (by_merge) {
      y = attention_merge(nn::attention(in[0], in[1], in[2], {}),
                          nn::attention(in[0], in[3], in[4], {}));
    } else {
      const std::array<Tensor, 2> k{in[1], in[3]};
      const std::array<Tensor, 2> v{in[2], in[4]};
      y = nn::attention(in[0], concat(k, 1), concat(v, 1), {});
    }
    return std::vector<Tensor>{y.output, y.log_sum_exp};
  };
  return op_case;
}

TEST(Attention, E11_KeysOfATextThatEveryRankHoldsWeighOnceBesideThoseOfACutImage) {
  const Joint joint;
  const OpResult dense = dense_result(
      {joint.q, along_tokens(joint.text_k, joint.k), along_tokens(joint.text_v, joint.v), {}});
  for (const bool by_merge : {true, false})
    for (const Dtype dtype : {Dtype::float64, Dtype::float32})
      for (const Sizes& tokens : {Sizes{3, 3}, Sizes{4, 2}, Sizes{0, 6}, Sizes{1, 2, 3}}) {
        SCOPED_TRACE(fmt::format("{} ranks, {} tokens on the first, {}, by {}", tokens.size(),
                                 tokens[0], name_of(dtype), by_merge ? "merge" : "concat"));
        const Placed image = cut(1, tokens);
        const Arrangement arrangement{fmt::format("domain={}", tokens.size()),
                                      {image, {}, {}, image, image}};
        const bool exact = dtype == Dtype::float64;
        const std::vector<OpResult> ranks =
            run_case(joint_case(joint, by_merge), arrangement, dtype);
        for (const OpResult& rank : ranks) {
          for (std::size_t o = 0; o < 2; ++o)
            EXPECT_TRUE(close(rank.outputs[o], dense.outputs[o], exact ? 1e-10 : 1e-5)) << o;
          EXPECT_TRUE(close(rank.gradients[0], dense.gradients[0], exact ? 1e-10 : 1e-4));
          for (const std::size_t operand : {1, 2})
            EXPECT_TRUE(close(along_tokens(rank.gradients[operand], rank.gradients[operand + 2]),
                              dense.gradients[operand], exact ? 1e-10 : 1e-4))
                << operand;
        }
      }
}

TEST(Attention, E14_HeadsAreCutByTheirOwnNumberWhateverModelRanBefore) {
  World world;
  world.mesh = "tensor=4";
  run_on(world, [](Worker& worker, int rank) {
    for (const std::int64_t heads : {3, 12, 5, 12}) {
      const Heads operands = heads_of({1, 5, 5, heads, 2, 2});
      const shardlab::Cut by_heads{"tensor", 2, 1};
      const Spec spec = spread(worker, operands.q.shape, Dtype::float64, std::span(&by_heads, 1));
      const std::vector<Tensor> qkv{make_leaf(from_values(worker, spec, operands.q.data)),
                                    make_leaf(from_values(worker, spec, operands.k.data)),
                                    make_leaf(from_values(worker, spec, operands.v.data))};
      const std::int64_t collectives = worker.trace().totals().collectives;
      const Attended y = nn::attention(qkv[0], qkv[1], qkv[2], {});
      EXPECT_EQ(worker.trace().totals().collectives, collectives);
      EXPECT_EQ(y.output.layout(), spec.layout);
      EXPECT_EQ(y.output.state().view.shape[2], heads / 4 + (rank < heads % 4 ? 1 : 0));
      const std::vector<Tensor> outputs{y.output, y.log_sum_exp};
      const std::vector<Tensor> seeds{make(worker, seed_of(y.output.shape(), 0)),
                                      make(worker, seed_of(y.log_sum_exp.shape(), 1))};
      const std::vector<Tensor> g = gradients(outputs, qkv, seeds);
      const OpResult dense = dense_result(operands);
      for (std::size_t o = 0; o < 2; ++o)
        EXPECT_TRUE(close(whole_values(outputs[o]), dense.outputs[o], 1e-10)) << heads;
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_TRUE(close(whole_values(g[i]), dense.gradients[i], 1e-10)) << heads;
    }
  });
}

}  // namespace
}  // namespace shardlab::test
