#include "engine/nn/layers.h"

#include <cmath>

#include "engine/core/check.h"
#include "engine/dispatch/dispatch.h"
#include "engine/dispatch/intrinsic.h"
#include "engine/ops/reduce.h"
#include "tests/engine/nn/model_case.h"

namespace shardlab::test {
namespace {

using nn::ParameterRule;

constexpr std::int64_t width = 6;

Model mlp() {
  return [](const nn::Parameters& parameters) {
    const auto layer = std::make_shared<nn::Mlp>(parameters.within("mlp"), width, 10);
    return [layer](const Tensor& x) { return (*layer)(x); };
  };
}

Model multi_head_attention() {
  return [](const nn::Parameters& parameters) {
    const auto layer =
        std::make_shared<nn::MultiHeadAttention>(parameters.within("attention"), width, 3);
    return [layer](const Tensor& x) { return (*layer)(x); };
  };
}

/// The first layer cut by columns, the second by rows: one sum a pass.
std::vector<ParameterRule> column_and_row(const std::string& first, const std::string& second) {
  return {{first + ".weight", {{"tensor", 0}}, {{"tensor", 0}}},
          {first + ".bias", {{"tensor", 0}}, {{"tensor", 0}}},
          {second + ".weight", {{"tensor", 1}}, {{"tensor", 1}}}};
}

World on(const std::string& mesh) {
  World world;
  world.mesh = mesh;
  return world;
}

Placed tokens_and_batch() { return {{{0, {0}, {2, 0}}, {1, {1}, {1, 4}}}, {}, Reduction::sum}; }

TEST(Linear, IsTheProductWithTheTransposedWeightPlusBias) {
  const Model linear = [](const nn::Parameters& parameters) {
    const auto layer = std::make_shared<nn::Linear>(parameters, 3, 2);
    return [layer](const Tensor& x) { return (*layer)(x); };
  };
  const Pass found = pass_of(linear, {4, 3}, {});
  const Values x = numbers({4, 3}, 1);
  const Values w = numbers({2, 3}, 100);
  Values expected = zeros({4, 2});
  for (std::int64_t i = 0; i < 8; ++i) {
    expected[i] = numbers({2}, 101)[i % 2];
    for (std::int64_t k = 0; k < 3; ++k) expected[i] += x[i / 2 * 3 + k] * w[i % 2 * 3 + k];
  }
  EXPECT_TRUE(close(found.output, expected, 1e-14));
  EXPECT_EQ(found.names, (std::vector<std::string>{"weight", "bias"}));
}

TEST(Linear, WithoutBiasHasOneParameter) {
  run_on({}, [](Worker& worker, int) {
    const nn::Linear layer(nn::Parameters(worker, {}), 3, 2, false);
    EXPECT_EQ(worker.parameters().size(), 1U);
    EXPECT_EQ(layer(make(worker, numbers({4, 3}))).shape(), Shape({4, 2}));
  });
}

TEST(Linear, AddsTheBiasOnceWhereTheContractedDimIsCut) {
  for (const std::string mesh : {"tensor=2", "tensor=4"}) {
    const int ranks = Mesh::parse(mesh).size();
    run_on(on(mesh), [&](Worker& worker, int) {
      const shardlab::Cut by_columns{"tensor", 1, 1};
      const Values ones{{1, 6}, std::vector<double>(6, 1.0)};
      const Tensor w = from_values(
          worker, spread(worker, {1, 6}, Dtype::float64, std::span(&by_columns, 1)), ones.data);
      const Tensor bias = make(worker, Values{{1}, {100}});
      const Tensor whole = make(worker, Values{{2, 6}, std::vector<double>(12, 1.0)});
      EXPECT_EQ(whole_values(nn::apply_linear(whole, w, bias)).data,
                (std::vector<double>{106, 106}));
      std::vector<std::int64_t> parts(static_cast<std::size_t>(ranks), 0);
      parts.front() = 5;
      parts.back() = 1;
      const Tensor cut_x =
          make(worker, Values{{2, 6}, std::vector<double>(12, 1.0)}, cut(1, parts));
      const Tensor whole_w = make(worker, ones);
      EXPECT_EQ(whole_values(nn::apply_linear(cut_x, whole_w, bias)).data,
                (std::vector<double>{106, 106}));
    });
  }
}

TEST(Mlp, IsTwoLinearLayersWithGeluBetween) {
  const Pass found = pass_of(mlp(), {2, width}, {});
  const Values x = numbers({2, width}, 1);
  const Values up = numbers({10, width}, 100);
  const Values up_bias = numbers({10}, 101);
  const Values down = numbers({width, 10}, 102);
  const Values down_bias = numbers({width}, 103);
  Values expected = zeros({2, width});
  for (std::int64_t r = 0; r < 2; ++r) {
    for (std::int64_t o = 0; o < width; ++o) expected[r * width + o] = down_bias[o];
    for (std::int64_t h = 0; h < 10; ++h) {
      double a = up_bias[h];
      for (std::int64_t i = 0; i < width; ++i) a += x[r * width + i] * up[h * width + i];
      const double y = 0.5 * a * (1 + std::erf(a / std::sqrt(2.0)));
      for (std::int64_t o = 0; o < width; ++o) expected[r * width + o] += y * down[o * 10 + h];
    }
  }
  EXPECT_TRUE(close(found.output, expected, 1e-12));
}

TEST(Mlp, CutByColumnsThenRowsEqualsOneRankWithOneSum) {
  const Pass one = pass_of(mlp(), {2, 5, width}, {});
  for (const std::string mesh : {"tensor=2", "tensor=3", "tensor=4"}) {
    SCOPED_TRACE(mesh);
    const Pass found = pass_of(mlp(), {2, 5, width}, {on(mesh), column_and_row("up", "down"), {}});
    expect_equal(found, one);
    EXPECT_EQ(found.collectives, 1);
  }
}

TEST(Mlp, CutByColumnsThenRowsWithTokensCutEqualsOneRank) {
  const Pass one = pass_of(mlp(), {2, 5, width}, {});
  const Placed tokens{{{1, {0}, {4, 1}}}, {}, Reduction::sum};
  expect_equal(pass_of(mlp(), {2, 5, width},
                       {on("domain=2,tensor=2"), column_and_row("up", "down"), tokens}),
               one);
  // Tokens on the axis of the weights themselves.
  expect_equal(
      pass_of(mlp(), {2, 5, width}, {on("tensor=2"), column_and_row("up", "down"), tokens}), one);
}

TEST(Mlp, StoredShardedAndUsedWholeEqualsOneRank) {
  const Pass one = pass_of(mlp(), {2, 5, width}, {});
  const std::vector<ParameterRule> shard{{"", {{"data", 0}}, {}}};
  expect_equal(pass_of(mlp(), {2, 5, width}, {on("data=2"), shard, cut(0, {1, 1})}), one);
  expect_equal(pass_of(mlp(), {2, 5, width}, {on("data=4"), shard, cut(0, {0, 2, 0, 0})}), one);
  expect_equal(pass_of(mlp(), {2, 5, width}, {on("data=2,domain=2"), shard, tokens_and_batch()}),
               one);
}

TEST(Mlp, StoredShardedAndUsedByColumnsAndRowsEqualsOneRank) {
  const Pass one = pass_of(mlp(), {2, 5, width}, {});
  const std::vector<ParameterRule> rules{
      {"up.weight", {{"tensor", 0}, {"data", 0}}, {{"tensor", 0}}},
      {"up.bias", {{"tensor", 0}}, {{"tensor", 0}}},
      {"down.weight", {{"data", 0}, {"tensor", 1}}, {{"tensor", 1}}}};
  expect_equal(pass_of(mlp(), {2, 5, width}, {on("data=2,tensor=2"), rules, cut(0, {2, 0})}), one);
}

TEST(MultiHeadAttention, OnAnyCutOfBatchAndTokensEqualsOneRank) {
  const Pass one = pass_of(multi_head_attention(), {2, 5, width}, {});
  for (const Placed& placed : {Placed{}, cut(0, {2, 0, 0}), cut(1, {2, 2, 1}), cut(1, {0, 5, 0}),
                               cut(2, {3, 0, 3}), Placed{{}, {0}, Reduction::sum}}) {
    SCOPED_TRACE(to_string(placed));
    expect_equal(pass_of(multi_head_attention(), {2, 5, width}, {on("domain=3"), {}, placed}), one);
  }
  expect_equal(pass_of(multi_head_attention(), {2, 5, width},
                       {on("data=2,domain=2"), {}, tokens_and_batch()}),
               one);
}

TEST(MultiHeadAttention, WithWeightsCutByColumnsAndRowsEqualsOneRank) {
  const Pass one = pass_of(multi_head_attention(), {2, 5, width}, {});
  const std::vector<ParameterRule> rules = column_and_row("qkv", "out");
  expect_equal(pass_of(multi_head_attention(), {2, 5, width}, {on("tensor=3"), rules, {}}), one);
  expect_equal(pass_of(multi_head_attention(), {2, 5, width},
                       {on("domain=2,tensor=2"), rules, cut(1, {1, 4})}),
               one);
}

TEST(MultiHeadAttention, AWidthThatHeadsDoNotDivideIsNamed) {
  EXPECT_EQ(error_of({},
                     [](Worker& worker) {
                       (void)nn::MultiHeadAttention(nn::Parameters(worker, {}), 10, 4);
                     }),
            "invalid: rank 0: attention: width 10 is no multiple of 4 heads");
  EXPECT_EQ(error_of({},
                     [](Worker& worker) {
                       (void)nn::MultiHeadAttention(nn::Parameters(worker, {}), 10, 0);
                     }),
            "invalid: rank 0: attention: width 10 is no multiple of 0 heads");
}

TEST(LayerNorm, OfTheInnermostDimOnAnyCutEqualsOneRank) {
  const Model norm = [](const nn::Parameters& parameters) {
    const auto layer = std::make_shared<nn::LayerNorm>(parameters, width);
    return [layer](const Tensor& x) { return (*layer)(x); };
  };
  const Pass one = pass_of(norm, {2, 5, width}, {});
  for (int dim = 0; dim < 3; ++dim) {
    const std::int64_t extent = Shape({2, 5, width})[dim];
    expect_equal(pass_of(norm, {2, 5, width}, {on("domain=3"), {}, cut(dim, {1, 0, extent - 1})}),
                 one);
  }
}

TEST(MseLoss, IsDividedOnceByTheGlobalCount) {
  run_on(on("domain=3"), [](Worker& worker, int) {
    const Values a = numbers({7, 2}, 1);
    const Values b = numbers({7, 2}, 2);
    double expected = 0;
    for (std::int64_t i = 0; i < 14; ++i) expected += (a[i] - b[i]) * (a[i] - b[i]) / 14;
    for (const Placed& placed : {Placed{}, cut(0, {4, 0, 3}), cut(1, {1, 1, 0})})
      EXPECT_NEAR(value_of(nn::mse_loss(make(worker, a, placed), make(worker, b, placed))),
                  expected, 1e-14);
  });
}

TEST(Checkpoint, OfATransformerBlockEqualsNoCheckpoint) {
  const auto block = [](bool with_checkpoint) {
    return [with_checkpoint](const nn::Parameters& parameters) {
      const auto norm = std::make_shared<nn::LayerNorm>(parameters.within("norm"), width);
      const auto attention =
          std::make_shared<nn::MultiHeadAttention>(parameters.within("attention"), width, 2);
      const auto last = std::make_shared<nn::Mlp>(parameters.within("mlp"), width, 8);
      return [=](const Tensor& x) {
        const auto inside = [=](std::span<const Tensor> in) {
          const Tensor attended = add(in[0], (*attention)((*norm)(in[0])));
          return add(attended, (*last)(attended));
        };
        return with_checkpoint ? checkpoint(inside, std::span(&x, 1)) : inside(std::span(&x, 1));
      };
    };
  };
  const Pass one = pass_of(block(false), {2, 5, width}, {});
  const std::vector<ParameterRule> shard{{"", {{"domain", 0}}, {}}};
  for (const Spread& spread : {Spread{}, Spread{on("domain=3"), {}, cut(1, {3, 0, 2})},
                               Spread{on("domain=3"), shard, cut(1, {2, 2, 1})},
                               Spread{on("data=2,domain=2"), shard, tokens_and_batch()}}) {
    const Pass plain = pass_of(block(false), {2, 5, width}, spread);
    const Pass recomputed = pass_of(block(true), {2, 5, width}, spread);
    expect_equal(recomputed, one);
    EXPECT_TRUE(same(recomputed.output, plain.output));
    for (std::size_t p = 0; p < plain.gradients.size(); ++p)
      EXPECT_TRUE(close(recomputed.gradients[p], plain.gradients[p], 1e-14)) << plain.names[p];
  }
}

}  // namespace
}  // namespace shardlab::test
