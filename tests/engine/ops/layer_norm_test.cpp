#include "engine/ops/layer_norm.h"

#include <cmath>

#include "engine/ops/linear.h"
#include "tests/support/op_case.h"

namespace shardlab::test {
namespace {

constexpr double epsilon = 1e-5;

Values normalised(const Values& x, const Values& weight, const Values& bias) {
  const std::int64_t n = x.shape[x.shape.ndim() - 1];
  Values y = x;
  for (std::int64_t row = 0; row < x.shape.count() / n; ++row) {
    double mean = 0;
    for (std::int64_t i = 0; i < n; ++i) mean += x[row * n + i] / static_cast<double>(n);
    double variance = 0;
    for (std::int64_t i = 0; i < n; ++i)
      variance += (x[row * n + i] - mean) * (x[row * n + i] - mean) / static_cast<double>(n);
    for (std::int64_t i = 0; i < n; ++i)
      y[row * n + i] =
          (x[row * n + i] - mean) / std::sqrt(variance + epsilon) * weight[i] + bias[i];
  }
  return y;
}

OpCase rows(std::string name, const Shape& shape) {
  const std::int64_t n = shape[shape.ndim() - 1];
  OpCase c;
  c.name = std::move(name);
  c.inputs = {{numbers(shape, 5)}, {numbers({n}, 6)}, {numbers({n}, 7)}};
  c.call = [](std::span<const Tensor> in) {
    return std::vector{layer_norm(in[0], in[1], in[2], epsilon)};
  };
  c.reference = [](std::span<const Values> in) {
    return std::vector{normalised(in[0], in[1], in[2])};
  };
  c.op = [] { return make_ref<LayerNorm>(epsilon); };
  return c;
}

INSTANTIATE_TEST_SUITE_P(LayerNorm, OpCases,
                         testing::Values(rows("OfAMatrix", {5, 8}), rows("OfThreeDims", {2, 5, 7}),
                                         rows("OfAVector", {6}), rows("OfNoRows", {0, 4})),
                         name_of_case);

TEST(LayerNorm, B12_WeightGradientsAreSumsOverAllRanksRows) {
  World world;
  world.mesh = "domain=2";
  const auto weight_gradients = [](const World& there, const Placed& placed) {
    return on_all(there, [&](Worker& worker) {
      const Tensor x = make(worker, numbers({4, 8}, 1), placed);
      const std::vector<Tensor> wrt{make(worker, numbers({8}, 2), {}, true),
                                    make(worker, numbers({8}, 3), {}, true)};
      const std::vector<Tensor> y{layer_norm(x, wrt[0], wrt[1])};
      const std::vector<Tensor> seed{make(worker, numbers({4, 8}, 4))};
      const std::vector<Tensor> g = gradients(y, wrt, seed);
      EXPECT_EQ(g[0].shape(), (Shape{8}));
      Values both = whole_values(g[0]);
      const Values second = whole_values(g[1]);
      both.data.insert(both.data.end(), second.data.begin(), second.data.end());
      both.shape = {16};
      return both;
    });
  };
  EXPECT_TRUE(close(weight_gradients(world, cut(0, {2, 2})), weight_gradients({}, {}), 1e-12));
  EXPECT_TRUE(close(weight_gradients(world, cut(0, {4, 0})), weight_gradients({}, {}), 1e-12));
}

TEST(LayerNorm, B06_WeightGradientIsPendingOnEveryAxisThatCutsRowsAndEqualsOneRankWhenReduced) {
  const auto weight_gradient = [](const World& there, const Placed& placed) {
    return on_all(there, [&](Worker& worker) {
      const Tensor x = make(worker, numbers({4, 5, 8}, 1), placed);
      const std::vector<Tensor> wrt{make(worker, numbers({8}, 2), {}, true)};
      const std::vector<Tensor> y{layer_norm(x, wrt[0], make(worker, numbers({8}, 3)))};
      const std::vector<Tensor> seed{make(worker, numbers({4, 5, 8}, 4))};
      const Tensor g = gradients(y, wrt, seed)[0];
      std::uint32_t cutting = 0;
      for (const Parts& parts : placed.cuts) cutting |= 1U << parts.axes[0];
      EXPECT_EQ(g.layout()->partial().mask(), cutting);
      return whole_values(g);
    });
  };
  World world;
  world.mesh = "data=2,tensor=2";
  const Values one = weight_gradient({}, {});
  for (const Placed& placed : {Placed{{{0, {0}, {3, 1}}, {1, {1}, {2, 3}}}, {}, Reduction::sum},
                               Placed{{{0, {0}, {0, 4}}, {1, {1}, {5, 0}}}, {}, Reduction::sum},
                               Placed{{{0, {0}, {3, 1}}}, {}, Reduction::sum}})
    EXPECT_TRUE(close(weight_gradient(world, placed), one, 1e-12)) << to_string(placed);
}

// Rows on the data axis, whole on the tensor axis, whose column-parallel reader hands back a
// cotangent in pending pieces.
TEST(LayerNorm, B06_WeightGradientBehindAColumnParallelLayerIsSummedOverBothAxes) {
  const auto weight_gradients = [](const World& there, const Placed& rows, const Placed& columns) {
    return on_all(there, [&](Worker& worker) {
      const Tensor x = make(worker, numbers({4, 8}, 1), rows);
      const std::vector<Tensor> wrt{make(worker, numbers({8}, 2), {}, true),
                                    make(worker, numbers({8}, 3), {}, true)};
      const Tensor normed = layer_norm(x, wrt[0], wrt[1]);
      EXPECT_EQ(normed.layout(), x.layout());
      const std::vector<Tensor> y{linear(normed, make(worker, numbers({6, 8}, 4), columns))};
      const std::vector<Tensor> seed{make(worker, numbers({4, 6}, 5))};
      const std::vector<Tensor> g = gradients(y, wrt, seed);
      Values both = whole_values(g[0]);
      const Values second = whole_values(g[1]);
      both.data.insert(both.data.end(), second.data.begin(), second.data.end());
      both.shape = {16};
      return both;
    });
  };
  World world;
  world.mesh = "data=2,tensor=2";
  const Values one = weight_gradients({}, {}, {});
  for (const std::vector<std::int64_t>& rows : {std::vector<std::int64_t>{2, 2}, {3, 1}, {0, 4}})
    for (const std::vector<std::int64_t>& columns :
         {std::vector<std::int64_t>{3, 3}, {5, 1}, {6, 0}})
      EXPECT_TRUE(
          close(weight_gradients(world, cut(0, rows), {{{0, {1}, columns}}, {}, Reduction::sum}),
                one, 1e-12));
}

TEST(LayerNorm, KeepsItsDigitsFarFromZero) {
  Values x = numbers({6, 32}, 9);
  for (double& value : x.data) value = 101325 + 100 * value;
  const Values weight{{32}, std::vector<double>(32, 1.0)};
  const Values bias = zeros({32});
  World world;
  world.dtype = Dtype::float32;
  const Values found = on_all(world, [&](Worker& worker) {
    return whole_values(layer_norm(make(worker, x), make(worker, weight), make(worker, bias)));
  });
  Values rounded = x;
  for (double& value : rounded.data) value = static_cast<float>(value);
  EXPECT_TRUE(close(found, normalised(rounded, weight, bias), 1e-4));
}

}  // namespace
}  // namespace shardlab::test
