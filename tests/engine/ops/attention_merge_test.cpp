#include "engine/ops/attention_merge.h"

#include <cmath>

#include "tests/support/op_case.h"

namespace shardlab::test {
namespace {

OpCase merge() {
  OpCase c;
  c.name = "OfTwoParts";
  c.inputs = {{numbers({2, 5, 2, 4}, 1)},
              {numbers({2, 5, 2}, 2)},
              {numbers({2, 5, 2, 4}, 3)},
              {numbers({2, 5, 2}, 4)}};
  c.call = [](std::span<const Tensor> in) {
    const Attended merged = attention_merge({in[0], in[1]}, {in[2], in[3]});
    return std::vector{merged.output, merged.log_sum_exp};
  };
  c.reference = [](std::span<const Values> in) {
    Values y = in[0];
    Values lse = in[1];
    for (std::int64_t r = 0; r < lse.shape.count(); ++r) {
      const double a = std::exp(in[1][r]);
      const double b = std::exp(in[3][r]);
      lse[r] = std::log(a + b);
      for (std::int64_t e = 0; e < 4; ++e)
        y[r * 4 + e] = (a * in[0][r * 4 + e] + b * in[2][r * 4 + e]) / (a + b);
    }
    return std::vector{y, lse};
  };
  c.op = [] { return make_ref<AttentionMerge>(); };
  return c;
}
INSTANTIATE_TEST_SUITE_P(AttentionMerge, OpCases, testing::Values(merge()), name_of_case);

std::pair<Values, Values> merged(const Values& a, double lse_a, const Values& b, double lse_b,
                                 Dtype dtype = Dtype::float64) {
  World world;
  world.dtype = dtype;
  std::pair<Values, Values> result;
  run_on(world, [&](Worker& worker, int) {
    const Attended y = attention_merge({make(worker, a), make(worker, {{1, 1, 1}, {lse_a}})},
                                       {make(worker, b), make(worker, {{1, 1, 1}, {lse_b}})});
    result = {whole_values(y.output), whole_values(y.log_sum_exp)};
  });
  return result;
}

TEST(AttentionMerge, E02_FarApartLogSumExpsDoNotOverflow) {
  const Values a{{1, 1, 1, 2}, {1, 2}};
  const Values b{{1, 1, 1, 2}, {3, 4}};
  const auto [y, lse] = merged(a, -100, b, 0, Dtype::float32);
  EXPECT_NEAR(lse.data[0], 0, 1e-40);
  EXPECT_EQ(y.data, b.data);
}

TEST(AttentionMerge, E17_AMaskedPartWeighsNothingAndTwoOfThemGiveZero) {
  const Values a{{1, 1, 1, 2}, {1, 2}};
  const Values none = zeros({1, 1, 1, 2});
  const auto [y, lse] = merged(a, 0.25, none, -INFINITY);
  EXPECT_EQ(y.data, a.data);
  EXPECT_EQ(lse.data[0], 0.25);
  const auto [zero, minus] = merged(none, -INFINITY, none, -INFINITY);
  EXPECT_EQ(zero.data, none.data);
  EXPECT_EQ(minus.data[0], -INFINITY);
}

TEST(AttentionMerge, E17_GradientsOfMaskedPartsAreZeroAndNeverNan) {
  run_on({}, [](Worker& worker, int) {
    const std::vector<Tensor> parts{make(worker, zeros({1, 1, 1, 2}), {}, true),
                                    make(worker, {{1, 1, 1}, {-INFINITY}}, {}, true),
                                    make(worker, zeros({1, 1, 1, 2}), {}, true),
                                    make(worker, {{1, 1, 1}, {-INFINITY}}, {}, true)};
    const std::vector<Tensor> y{attention_merge({parts[0], parts[1]}, {parts[2], parts[3]}).output};
    const std::vector<Tensor> seed{make(worker, {{1, 1, 1, 2}, {1, 2}})};
    for (const Tensor& g : gradients(y, parts, seed))
      for (const double value : whole_values(g).data) EXPECT_EQ(value, 0);
  });
}

TEST(AttentionMerge, AnOutputThatIsExactlyZeroStaysZero) {
  const Values none = zeros({1, 1, 1, 2});
  const auto [y, lse] = merged(none, 1, none, 2);
  EXPECT_EQ(y.data, none.data);
  EXPECT_NEAR(lse.data[0], std::log(std::exp(1.0) + std::exp(2.0)), 1e-14);
}

}  // namespace
}  // namespace shardlab::test
