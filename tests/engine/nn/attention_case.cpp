#include "tests/engine/nn/attention_case.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "engine/core/check.h"
#include "engine/nn/attention.h"

namespace shardlab::test {
namespace {

/// One query of one head against all keys.
class Row {
 public:
  Row(const Heads& heads, double scale, std::int64_t b, std::int64_t i, std::int64_t h)
      : heads_(heads), scale_(scale), b_(b), i_(i), h_(h) {}

  [[nodiscard]] std::int64_t at(const Values& x, std::int64_t token, std::int64_t c) const {
    const Shape& shape = x.shape;
    return ((b_ * shape[1] + token) * shape[2] + h_) * shape[3] + c;
  }
  [[nodiscard]] std::int64_t row() const {
    const Shape& shape = heads_.q.shape;
    return (b_ * shape[1] + i_) * shape[2] + h_;
  }
  [[nodiscard]] double product(const Values& a, std::int64_t t, const Values& b,
                               std::int64_t u) const {
    double sum = 0;
    for (std::int64_t c = 0; c < a.shape[3]; ++c) sum += a[at(a, t, c)] * b[at(b, u, c)];
    return sum;
  }

  void add_to(OpResult& result, const Values& g, const Values& g_log_sum_exp) const {
    const std::int64_t keys = heads_.k.shape[1];
    std::vector<double> p(static_cast<std::size_t>(keys));
    double most = -std::numeric_limits<double>::infinity();
    for (std::int64_t j = 0; j < keys; ++j) {
      p[j] = scale_ * product(heads_.q, i_, heads_.k, j);
      most = std::max(most, p[j]);
    }
    double sum = 0;
    for (double& score : p) sum += score = std::exp(score - most);
    for (double& weight : p) weight /= sum;
    result.outputs[1][row()] = keys == 0 ? most : most + std::log(sum);
    std::vector<double> dp(p.size());
    double delta = 0;
    for (std::int64_t j = 0; j < keys; ++j) {
      for (std::int64_t c = 0; c < heads_.v.shape[3]; ++c) {
        result.outputs[0][at(g, i_, c)] += p[j] * heads_.v[at(heads_.v, j, c)];
        result.gradients[2][at(heads_.v, j, c)] += p[j] * g[at(g, i_, c)];
      }
      dp[j] = product(g, i_, heads_.v, j);
      delta += p[j] * dp[j];
    }
    for (std::int64_t j = 0; j < keys; ++j) {
      const double ds = scale_ * p[j] * (dp[j] - delta + g_log_sum_exp[row()]);
      for (std::int64_t c = 0; c < heads_.q.shape[3]; ++c) {
        result.gradients[0][at(heads_.q, i_, c)] += ds * heads_.k[at(heads_.k, j, c)];
        result.gradients[1][at(heads_.k, j, c)] += ds * heads_.q[at(heads_.q, i_, c)];
      }
    }
  }

 private:
  const Heads& heads_;
  double scale_;
  std::int64_t b_;
  std::int64_t i_;
  std::int64_t h_;
};

}  // namespace

// The harness is used here for its runs, not for its list of checks.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OpCases);

Heads heads_of(const HeadExtents& e) {
  return {numbers({e.batch, e.queries, e.heads, e.width}, 1),
          numbers({e.batch, e.keys, e.heads, e.width}, 2),
          numbers({e.batch, e.keys, e.heads, e.value_width}, 3),
          {}};
}

OpCase attention_case(const Heads& heads) {
  OpCase op_case;
  op_case.name = "attention";
  op_case.inputs = {{heads.q}, {heads.k}, {heads.v}};
  op_case.call = [scale = heads.scale](std::span<const Tensor> in) {
    nn::AttentionOptions options;
    options.scale = scale;
    const Attended attended = nn::attention(in[0], in[1], in[2], options);
    return std::vector<Tensor>{attended.output, attended.log_sum_exp};
  };
  return op_case;
}

OpResult dense_result(const Heads& heads) {
  const Shape& q = heads.q.shape;
  return dense_result(heads, seed_of({q[0], q[1], q[2], heads.v.shape[3]}, 0),
                      seed_of({q[0], q[1], q[2]}, 1));
}

OpResult dense_result(const Heads& heads, const Values& g, const Values& g_log_sum_exp) {
  const Shape& q = heads.q.shape;
  OpResult result;
  result.outputs = {zeros(g.shape), zeros(g_log_sum_exp.shape)};
  result.gradients = {zeros(q), zeros(heads.k.shape), zeros(heads.v.shape)};
  const double scale = heads.scale.value_or(1 / std::sqrt(static_cast<double>(q[3])));
  for (std::int64_t b = 0; b < q[0]; ++b)
    for (std::int64_t i = 0; i < q[1]; ++i)
      for (std::int64_t h = 0; h < q[2]; ++h)
        Row(heads, scale, b, i, h).add_to(result, g, g_log_sum_exp);
  return result;
}

Arrangement on_line(const std::vector<std::int64_t>& queries,
                    const std::vector<std::int64_t>& keys) {
  return {fmt::format("domain={}", keys.size()), {cut(1, queries), cut(1, keys), cut(1, keys)}};
}

std::string refusal_of(const World& world, const std::function<void(Worker&)>& program) {
  const std::vector<std::string> texts = on_ranks<std::string>(world, [&](Worker& worker) {
    try {
      program(worker);
    } catch (const Error& error) {
      return fmt::format("{}: {}", name_of(error.fault()), error.what());
    }
    return std::string();
  });
  for (const std::string& text : texts) EXPECT_EQ(text, texts[0]);
  return texts[0];
}

void expect_dense(const Heads& heads, const Arrangement& arrangement, Dtype dtype) {
  SCOPED_TRACE(to_string(arrangement) + " in " + name_of(dtype));
  const bool exact = dtype == Dtype::float64;
  const OpResult dense = dense_result(heads);
  const std::vector<OpResult> ranks = run_case(attention_case(heads), arrangement, dtype);
  for (std::size_t o = 0; o < dense.outputs.size(); ++o) {
    EXPECT_TRUE(close(ranks[0].outputs[o], dense.outputs[o], exact ? 1e-10 : 1e-5))
        << "output " << o;
    for (const OpResult& rank : ranks)
      EXPECT_TRUE(same(rank.outputs[o], ranks[0].outputs[o])) << "ranks differ in output " << o;
  }
  for (std::size_t g = 0; g < dense.gradients.size(); ++g) {
    EXPECT_TRUE(close(ranks[0].gradients[g], dense.gradients[g], exact ? 1e-10 : 1e-4))
        << "gradient " << g;
    for (const OpResult& rank : ranks)
      EXPECT_TRUE(same(rank.gradients[g], ranks[0].gradients[g]))
          << "ranks differ in gradient " << g;
  }
}

}  // namespace shardlab::test
