#include "engine/ops/attention.h"

#include <cmath>

#include "engine/ops/permute.h"
#include "tests/support/op_case.h"

namespace shardlab::test {
namespace {

std::int64_t at(const Shape& s, std::int64_t b, std::int64_t t, std::int64_t h, std::int64_t d) {
  return ((b * s[1] + t) * s[2] + h) * s[3] + d;
}

std::vector<Values> attend(const Values& q, const Values& k, const Values& v, double scale) {
  Shape out = q.shape;
  out[3] = v.shape[3];
  Values y = zeros(out);
  Values lse = zeros({q.shape[0], q.shape[1], q.shape[2]});
  for (std::int64_t b = 0; b < q.shape[0]; ++b)
    for (std::int64_t i = 0; i < q.shape[1]; ++i)
      for (std::int64_t h = 0; h < q.shape[2]; ++h) {
        std::vector<double> weight;
        double sum = 0;
        for (std::int64_t j = 0; j < k.shape[1]; ++j) {
          double score = 0;
          for (std::int64_t d = 0; d < q.shape[3]; ++d)
            score += q[at(q.shape, b, i, h, d)] * k[at(k.shape, b, j, h, d)];
          weight.push_back(std::exp(scale * score));
          sum += weight.back();
        }
        lse[(b * q.shape[1] + i) * q.shape[2] + h] = std::log(sum);
        for (std::int64_t j = 0; j < k.shape[1]; ++j)
          for (std::int64_t e = 0; e < v.shape[3]; ++e)
            y[at(out, b, i, h, e)] +=
                weight[static_cast<std::size_t>(j)] / sum * v[at(v.shape, b, j, h, e)];
      }
  return {y, lse};
}

OpCase heads(std::string name, std::int64_t b, std::int64_t q, std::int64_t k, std::int64_t h,
             std::int64_t d, std::int64_t e, bool with_log_sum_exp) {
  const double scale = 1 / std::sqrt(static_cast<double>(d));
  OpCase c;
  c.name = std::move(name);
  c.inputs = {{numbers({b, q, h, d}, 1)}, {numbers({b, k, h, d}, 2)}, {numbers({b, k, h, e}, 3)}};
  c.call = [=](std::span<const Tensor> in) {
    const Attended attended = attention(in[0], in[1], in[2], scale);
    std::vector<Tensor> outputs{attended.output};
    if (with_log_sum_exp) outputs.push_back(attended.log_sum_exp);
    return outputs;
  };
  c.reference = [=](std::span<const Values> in) {
    std::vector<Values> outputs = attend(in[0], in[1], in[2], scale);
    if (!with_log_sum_exp) outputs.pop_back();
    return outputs;
  };
  c.op = [scale] { return make_ref<Attention>(scale); };
  c.flop = 2 * b * h * q * k * (d + e);
  return c;
}

INSTANTIATE_TEST_SUITE_P(Attention, OpCases,
                         testing::Values(heads("OfItself", 2, 5, 5, 2, 4, 4, false),
                                         heads("WithLogSumExp", 2, 5, 5, 2, 4, 4, true),
                                         heads("OfOtherKeys", 2, 3, 7, 2, 4, 6, true),
                                         heads("OfManyKeys", 1, 37, 150, 1, 8, 8, true),
                                         heads("OfOneQuery", 1, 1, 9, 3, 5, 3, true)),
                         name_of_case);

/// Heads as they come from a model: a permuted look, read with strides.
OpCase permuted_heads() {
  OpCase c = heads("OfPermutedHeads", 2, 5, 5, 2, 4, 4, false);
  const auto reference = c.reference;
  c.inputs = {{numbers({2, 2, 5, 4}, 1)}, {numbers({2, 2, 5, 4}, 2)}, {numbers({2, 2, 5, 4}, 3)}};
  c.call = [](std::span<const Tensor> in) {
    const auto order = [](const Tensor& x) { return permute(x, {0, 2, 1, 3}); };
    return std::vector{attention(order(in[0]), order(in[1]), order(in[2]), 0.5).output};
  };
  c.reference = [reference](std::span<const Values> in) {
    std::vector<Values> ordered;
    for (const Values& x : in) {
      Values y = zeros({2, 5, 2, 4});
      for (std::int64_t i = 0; i < 80; ++i) {
        const std::int64_t b = i / 40, h = i / 20 % 2, t = i / 4 % 5, d = i % 4;
        y[at(y.shape, b, t, h, d)] = x[i];
      }
      ordered.push_back(y);
    }
    return reference(ordered);
  };
  c.op = nullptr;
  c.flop = -1;
  return c;
}
INSTANTIATE_TEST_SUITE_P(AttentionOfStrided, OpCases, testing::Values(permuted_heads()),
                         name_of_case);

TEST(Attention, E17_NoKeysGiveZeroAndMinusInfinityAndZeroGradients) {
  run_on({}, [](Worker& worker, int) {
    const std::vector<Tensor> wrt{make(worker, numbers({1, 2, 1, 4}), {}, true)};
    const Tensor none = make(worker, numbers({1, 0, 1, 4}));
    const Attended attended = attention(wrt[0], none, none, 0.5);
    for (const double y : whole_values(attended.output).data) EXPECT_EQ(y, 0);
    for (const double lse : whole_values(attended.log_sum_exp).data) EXPECT_EQ(lse, -INFINITY);
    const std::vector<Tensor> outputs{attended.output};
    const std::vector<Tensor> seed{make(worker, numbers({1, 2, 1, 4}, 3))};
    for (const double g : whole_values(gradients(outputs, wrt, seed)[0]).data) EXPECT_EQ(g, 0);
  });
}

TEST(Attention, LargeScoresDoNotOverflow) {
  Values q = numbers({1, 4, 1, 8}, 1);
  for (double& value : q.data) value *= 1000;
  const Values y = on_all({}, [&](Worker& worker) {
    const Tensor x = make(worker, q);
    return whole_values(attention(x, x, x, 1).output);
  });
  for (const double value : y.data) EXPECT_TRUE(std::isfinite(value));
}

TEST(Attention, GradientFlopIsTenPerPairAndWidth) {
  World meta;
  meta.meta = true;
  run_on(meta, [](Worker& worker, int) {
    const std::vector<Tensor> qkv{make(worker, numbers({1, 6, 2, 4}), {}, true),
                                  make(worker, numbers({1, 6, 2, 4}), {}, true),
                                  make(worker, numbers({1, 6, 2, 4}), {}, true)};
    const std::vector<Tensor> y{attention(qkv[0], qkv[1], qkv[2], 0.5).output};
    const std::int64_t forward = worker.trace().totals().flop;
    EXPECT_EQ(forward, 4 * 2 * 6 * 6 * 4);
    const std::vector<Tensor> seed{make(worker, numbers({1, 6, 2, 4}))};
    (void)gradients(y, qkv, seed);
    EXPECT_EQ(worker.trace().totals().flop - forward, 10 * 2 * 6 * 6 * 4);
  });
}

}  // namespace
}  // namespace shardlab::test
