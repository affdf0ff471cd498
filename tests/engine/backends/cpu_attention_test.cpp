#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "engine/ops/attention.h"
#include "engine/ops/attention_merge.h"
#include "tests/engine/backends/cpu_kernels.h"

namespace shardlab::cpu {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Extents b, q, k, h, d, e.
struct Extents {
  std::int64_t b, q, k, h, d, e;
};

const std::vector<Extents> extents{
    {1, 1, 1, 1, 1, 1}, {2, 5, 7, 3, 4, 6}, {1, 33, 130, 2, 16, 8}, {1, 200, 3, 1, 64, 64},
    {2, 3, 0, 2, 4, 4}, {0, 3, 4, 2, 4, 4}, {1, 0, 4, 2, 4, 4}};

/// Scores, weights and gradients written out.
struct Attended {
  Attended(const Extents& x, const Numbers& q, const Numbers& k, const Numbers& v, double scale)
      : x(x), o({x.b, x.q, x.h, x.e}), lse({x.b, x.q, x.h}), weight({x.b, x.h, x.q, x.k}) {
    for_each_index(lse.shape, [&](const auto& at, std::int64_t i) {
      std::vector<double> score(static_cast<std::size_t>(x.k));
      double most = -infinity;
      for (std::int64_t j = 0; j < x.k; ++j) {
        double sum = 0;
        for (std::int64_t c = 0; c < x.d; ++c)
          sum += q[i * x.d + c] * k[((at[0] * x.k + j) * x.h + at[2]) * x.d + c];
        score[static_cast<std::size_t>(j)] = scale * sum;
        most = std::max(most, scale * sum);
      }
      double sum = 0;
      for (const double s : score) sum += std::exp(s - most);
      lse[i] = x.k == 0 ? -infinity : most + std::log(sum);
      for (std::int64_t j = 0; j < x.k; ++j) {
        const double w = std::exp(score[static_cast<std::size_t>(j)] - lse[i]);
        weight[((at[0] * x.h + at[2]) * x.q + at[1]) * x.k + j] = w;
        for (std::int64_t c = 0; c < x.e; ++c)
          o[i * x.e + c] += w * v[((at[0] * x.k + j) * x.h + at[2]) * x.e + c];
      }
    });
  }

  [[nodiscard]] std::vector<Numbers> gradients(const Numbers& q, const Numbers& k, const Numbers& v,
                                               const Numbers& g, const Numbers& lse_g,
                                               double scale) const {
    Numbers dq(q.shape);
    Numbers dk(k.shape);
    Numbers dv(v.shape);
    for_each_index(lse.shape, [&](const auto& at, std::int64_t i) {
      double delta = -lse_g[i];
      for (std::int64_t c = 0; c < x.e; ++c) delta += g[i * x.e + c] * o[i * x.e + c];
      for (std::int64_t j = 0; j < x.k; ++j) {
        const std::int64_t key = (at[0] * x.k + j) * x.h + at[2];
        const double w = weight[((at[0] * x.h + at[2]) * x.q + at[1]) * x.k + j];
        double dp = 0;
        for (std::int64_t c = 0; c < x.e; ++c) {
          dp += g[i * x.e + c] * v[key * x.e + c];
          dv[key * x.e + c] += w * g[i * x.e + c];
        }
        const double ds = w * (dp - delta) * scale;
        for (std::int64_t c = 0; c < x.d; ++c) {
          dq[i * x.d + c] += ds * k[key * x.d + c];
          dk[key * x.d + c] += ds * q[i * x.d + c];
        }
      }
    });
    return {dq, dk, dv};
  }

  Extents x;
  Numbers o, lse, weight;
};

TEST(CpuAttention, OutputsAndGradientsOfAnyStridesEqualScalarLoops) {
  const double scale = 0.37;
  for (const Dtype dtype : floats)
    for (const Extents& x : extents)
      // Dense, heads before tokens, width not innermost, gaps.
      for (const Lie& lie :
           {Lie{}, Lie{{0, 2, 1, 3}, 0, 3}, Lie{{0, 1, 3, 2}, 0, 0}, Lie{{}, 1, 2}}) {
        const Numbers q = random_numbers({x.b, x.q, x.h, x.d}, 1);
        const Numbers k = random_numbers({x.b, x.k, x.h, x.d}, 2);
        const Numbers v = random_numbers({x.b, x.k, x.h, x.e}, 3);
        const Numbers g = random_numbers({x.b, x.q, x.h, x.e}, 4);
        const Numbers lse_g = random_numbers({x.b, x.q, x.h}, 5);
        const Attended expected(x, q, k, v, scale);
        Operand queries(q, dtype, lie);
        Operand keys(k, dtype, lie);
        Operand values(v, dtype, lie);
        Operand cotangent(g, dtype, lie);
        Operand lse_cotangent(lse_g, dtype);
        const double bound = dtype == Dtype::float32 ? 3e-6 : 1e-13;
        const auto result = run_kernel(Attention(scale), {&queries, &keys, &values});
        EXPECT_LE(error_of(result[0], expected.o), bound) << x.q << " by " << x.k;
        EXPECT_LE(error_of(result[1], expected.lse), bound) << x.q << " by " << x.k;

        Operand out(result[0], dtype, lie);
        Operand lse(result[1], dtype);
        std::vector<Operand*> operands{&queries, &keys, &values, &out, &lse, &cotangent};
        for (const bool through : {false, true}) {
          if (through) operands.push_back(&lse_cotangent);
          const auto back = run_kernel(AttentionGradient(scale, through), operands);
          const auto exact =
              expected.gradients(q, k, v, g, through ? lse_g : Numbers(lse_g.shape), scale);
          for (std::size_t i = 0; i < 3; ++i)
            EXPECT_LE(error_of(back[i], exact[i]), 3 * bound) << i << " " << x.q << " by " << x.k;
        }
      }
}

/// Merged rows and the gradients of both parts, in double.
struct Merged {
  Merged(const Numbers& a, const Numbers& a_lse, const Numbers& b, const Numbers& b_lse)
      : o(a.shape), lse(a_lse.shape) {
    const std::int64_t width = a.shape[3];
    for (std::int64_t r = 0; r < lse.shape.count(); ++r) {
      const double most = std::max(a_lse[r], b_lse[r]);
      const auto share = [&](double l) { return l == -infinity ? 0 : std::exp(l - most); };
      const double sum = share(a_lse[r]) + share(b_lse[r]);
      lse[r] = most == -infinity ? -infinity : most + std::log(sum);
      for (std::int64_t i = r * width; i < (r + 1) * width; ++i)
        o[i] = sum == 0 ? 0 : (share(a_lse[r]) * a[i] + share(b_lse[r]) * b[i]) / sum;
    }
  }

  void add_gradients(const Numbers& part, const Numbers& part_lse, const Numbers& g,
                     const Numbers& lse_g, std::vector<Numbers>& all) const {
    Numbers dpart(part.shape);
    Numbers dlse(part_lse.shape);
    const std::int64_t width = part.shape[3];
    for (std::int64_t r = 0; r < dlse.shape.count(); ++r) {
      const double w = part_lse[r] == -infinity ? 0 : std::exp(part_lse[r] - lse[r]);
      dlse[r] = w * lse_g[r];
      for (std::int64_t i = r * width; i < (r + 1) * width; ++i) {
        dpart[i] = w * g[i];
        dlse[r] += w * g[i] * (part[i] - o[i]);
      }
    }
    all.push_back(dpart);
    all.push_back(dlse);
  }

  Numbers o, lse;
};

TEST(CpuAttentionMerge, PartsAndGradientsEqualScalarLoops) {
  for_each_isa([&] {
    for (const Dtype dtype : floats)
      for (const Shape& shape : {Shape{1, 1, 1, 1}, Shape{2, 5, 3, 19}, Shape{1, 7, 2, 64},
                                 Shape{1, 0, 2, 4}, Shape{1, 6, 1, 0}}) {
        const Shape rows{shape[0], shape[1], shape[2]};
        Numbers a = random_numbers(shape, 1);
        const Numbers b = random_numbers(shape, 2);
        Numbers a_lse = random_numbers(rows, 3, 3);
        Numbers b_lse = random_numbers(rows, 4, 3);
        const Numbers g = random_numbers(shape, 5);
        const Numbers lse_g = random_numbers(rows, 6);
        for (std::int64_t r = 0; r < rows.count(); ++r) {
          if (r % 4 == 1) a_lse[r] = -infinity;
          if (r % 4 == 2) b_lse[r] = -infinity;
          if (r % 8 == 5) b_lse[r] = -infinity;
        }
        const Merged expected(a, a_lse, b, b_lse);
        Operand left(a, dtype);
        Operand left_lse(a_lse, dtype);
        Operand right(b, dtype);
        Operand right_lse(b_lse, dtype);
        const auto result = run_kernel(AttentionMerge(), {&left, &left_lse, &right, &right_lse});
        const double bound = dtype == Dtype::float32 ? 1e-6 : 1e-14;
        EXPECT_LE(error_of(result[0], expected.o), bound) << to_string(shape);
        EXPECT_LE(error_of(result[1], expected.lse), bound) << to_string(shape);

        Operand out(expected.o, dtype);
        Operand lse(expected.lse, dtype);
        Operand cotangent(g, dtype);
        Operand lse_cotangent(lse_g, dtype);
        const auto back = run_kernel(
            AttentionMergeGradient(),
            {&left, &left_lse, &right, &right_lse, &out, &lse, &cotangent, &lse_cotangent});
        std::vector<Numbers> exact;
        expected.add_gradients(a, a_lse, g, lse_g, exact);
        expected.add_gradients(b, b_lse, g, lse_g, exact);
        for (std::size_t i = 0; i < 4; ++i)
          EXPECT_LE(error_of(back[i], exact[i]), 3 * bound) << i << " " << to_string(shape);
      }
  });
}

}  // namespace
}  // namespace shardlab::cpu
