#include "engine/backends/cpu/attention_tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/backends/cpu/isa.h"
#include "tests/engine/backends/attention_problem.h"

namespace shardlab::cpu {
namespace {

/// What a problem should give, by the definition of attention, in float64.
struct Expected {
  std::vector<double> out, lse, dq, dk, dv;
};

template <typename T>
Expected by_definition(Problem<T>& p) {
  const AttentionSizes& s = p.sizes;
  Operand<double> out(s.batch, s.queries, s.heads, s.value_width);
  Operand<double> dq(s.batch, s.queries, s.heads, s.key_width);
  Operand<double> dk(s.batch, s.keys, s.heads, s.key_width);
  Operand<double> dv(s.batch, s.keys, s.heads, s.value_width);
  for (Operand<double>* each : {&out, &dq, &dk, &dv}) each->for_each([](double& x) { x = 0; });
  std::vector<double> lse(p.lse.size(), -infinity);
  std::vector<double> weight(static_cast<std::size_t>(s.keys));
  for (std::int64_t b = 0; b < s.batch; ++b) {
    for (std::int64_t h = 0; h < s.heads; ++h) {
      for (std::int64_t i = 0; s.keys > 0 && i < s.queries; ++i) {
        const std::int64_t number = (b * s.queries + i) * s.heads + h;
        for (std::int64_t j = 0; j < s.keys; ++j) {
          weight[j] = 0;
          for (std::int64_t w = 0; w < s.key_width; ++w)
            weight[j] += s.scale * double(p.q.at(b, i, h, w)) * double(p.k.at(b, j, h, w));
        }
        const double highest = *std::max_element(weight.begin(), weight.end());
        double sum = 0;
        for (double& x : weight) sum += x = std::exp(x - highest);
        for (double& x : weight) x /= sum;
        lse[number] = highest + std::log(sum);
        double delta = -double(p.lse_gradient[number]);
        for (std::int64_t w = 0; w < s.value_width; ++w) {
          double& o = out.at(b, i, h, w);
          const double gradient = p.out_gradient.at(b, i, h, w);
          for (std::int64_t j = 0; j < s.keys; ++j) {
            o += weight[j] * double(p.v.at(b, j, h, w));
            dv.at(b, j, h, w) += weight[j] * gradient;
          }
          delta += o * gradient;
        }
        for (std::int64_t j = 0; j < s.keys; ++j) {
          double slope = -delta;
          for (std::int64_t w = 0; w < s.value_width; ++w)
            slope += double(p.out_gradient.at(b, i, h, w)) * double(p.v.at(b, j, h, w));
          slope *= weight[j] * s.scale;
          for (std::int64_t w = 0; w < s.key_width; ++w) {
            dq.at(b, i, h, w) += slope * double(p.k.at(b, j, h, w));
            dk.at(b, j, h, w) += slope * double(p.q.at(b, i, h, w));
          }
        }
      }
    }
  }
  return {out.values(), lse, dq.values(), dk.values(), dv.values()};
}

/// max|a - b| / max|b|, and infinity if anything is not a number where it should be.
double error(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (a[i] == b[i]) continue;
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) return infinity;
    difference = std::max(difference, std::abs(a[i] - b[i]));
  }
  for (const double x : b) size = std::isfinite(x) ? std::max(size, std::abs(x)) : size;
  return difference == 0 ? 0 : difference / size;
}

template <typename T>
std::vector<double> widened(const std::vector<T>& values) {
  return {values.begin(), values.end()};
}

std::string text(const AttentionSizes& s) {
  return "batch " + std::to_string(s.batch) + ", queries " + std::to_string(s.queries) + ", keys " +
         std::to_string(s.keys) + ", heads " + std::to_string(s.heads) + ", widths " +
         std::to_string(s.key_width) + " and " + std::to_string(s.value_width);
}

std::vector<AttentionSizes> ragged_sizes() {
  return {
      {1, 1, 1, 1, 1, 1, 1.0},          {2, 5, 3, 2, 4, 7, 0.5},
      {1, 6, 6, 1, 64, 64, 0.125},      {1, 7, 97, 3, 16, 24, 0.25},
      {2, 64, 64, 2, 32, 32, 0.2},      {1, 65, 191, 1, 33, 17, 0.17},
      {1, 95, 193, 2, 64, 64, 0.125},   {1, 97, 13, 1, 80, 48, 0.11},
      {1, 193, 96, 1, 64, 72, 0.125},   {1, 200, 300, 2, 64, 64, 0.125},
      {1, 385, 131, 1, 8, 5, 0.35},     {1, 400, 500, 1, 3, 2, -0.6},
      {1, 12, 20, 1, 256, 300, 0.0625}, {1, 30, 40, 2, 64, 64, 0.0},
      {0, 8, 8, 2, 16, 16, 0.25},       {1, 0, 8, 2, 16, 16, 0.25},
      {1, 8, 0, 2, 16, 16, 0.25},       {1, 8, 8, 0, 16, 16, 0.25},
      {2, 1, 400, 1, 128, 128, 0.09},   {1, 400, 1, 1, 64, 64, 0.125},
  };
}

/// Runs a test with each instruction set of the machine.
class AttentionTiles : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { restrict_isa_for_test(GetParam()); }
  void TearDown() override { restrict_isa_for_test(""); }
};

template <typename T>
void expect_definition(const AttentionSizes& sizes, double tolerance, std::int64_t width_stride) {
  SCOPED_TRACE(text(sizes));
  Problem<T> p(sizes, 1.0, width_stride);
  const Expected expected = by_definition(p);
  p.forward();
  p.backward();
  EXPECT_LE(error(p.out.values(), expected.out), tolerance);
  EXPECT_LE(error(widened(p.lse), expected.lse), tolerance);
  EXPECT_LE(error(p.dq.values(), expected.dq), 3 * tolerance);
  EXPECT_LE(error(p.dk.values(), expected.dk), 3 * tolerance);
  EXPECT_LE(error(p.dv.values(), expected.dv), 3 * tolerance);
  EXPECT_TRUE(p.gaps_untouched());
}

TEST_P(AttentionTiles, ValuesAndGradientsEqualTheDefinitionInFloat32) {
  for (const AttentionSizes& sizes : ragged_sizes()) expect_definition<float>(sizes, 1e-6, 1);
}

TEST_P(AttentionTiles, ValuesAndGradientsEqualTheDefinitionInFloat64) {
  for (const AttentionSizes& sizes : ragged_sizes()) expect_definition<double>(sizes, 4e-15, 1);
}

TEST_P(AttentionTiles, ElementsMayLieApart) {
  expect_definition<float>({2, 70, 50, 2, 20, 36, 0.2}, 1e-6, 3);
  expect_definition<double>({2, 70, 50, 2, 20, 36, 0.2}, 4e-15, 2);
}

TEST_P(AttentionTiles, LargeScoresDoNotOverflow) {
  Problem<float> p({1, 50, 200, 1, 64, 32, 1.0}, 40.0);
  const Expected expected = by_definition(p);
  EXPECT_GT(*std::max_element(expected.lse.begin(), expected.lse.end()), 1e4);
  p.forward();
  p.backward();
  // A score of 1e4 is known to 1e-3 in float32, and so is its weight.
  EXPECT_LE(error(widened(p.lse), expected.lse), 1e-6);
  EXPECT_LE(error(p.out.values(), expected.out), 1e-2);
  EXPECT_LE(error(p.dv.values(), expected.dv), 1e-2);
  EXPECT_LE(error(p.dq.values(), expected.dq), 1e-1);
  EXPECT_LE(error(p.dk.values(), expected.dk), 1e-1);
}

TEST_P(AttentionTiles, RisingScoresRescaleWhatWasSummed) {
  Problem<float> p({1, 10, 700, 1, 1, 3, 1.0});
  p.q.for_each([](float& x) { x = 1; });
  for (std::int64_t key = 0; key < 700; ++key)
    p.k.at(0, key, 0, 0) = 0.25F * static_cast<float>(key) - 80.0F;
  const Expected expected = by_definition(p);
  p.forward();
  EXPECT_LE(error(p.out.values(), expected.out), 1e-6);
  EXPECT_LE(error(widened(p.lse), expected.lse), 1e-6);
}

TEST_P(AttentionTiles, NegativeScoresAloneKeepTheirSoftmax) {
  Problem<float> p({1, 70, 50, 1, 1, 8, 1.0});
  p.q.for_each([](float& x) { x = -300; });
  p.k.for_each([](float& x) { x = 1 + std::abs(x) / 300; });
  const Expected expected = by_definition(p);
  p.forward();
  p.backward();
  EXPECT_LE(error(p.out.values(), expected.out), 1e-4);
  EXPECT_LE(error(p.dv.values(), expected.dv), 1e-4);
}

TEST_P(AttentionTiles, OneKeyGivesItsValueExactly) {
  Problem<float> p({2, 9, 1, 3, 64, 40, 0.125});
  p.forward();
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t h = 0; h < 3; ++h)
      for (std::int64_t t = 0; t < 9; ++t)
        for (std::int64_t w = 0; w < 40; ++w) ASSERT_EQ(p.out.at(b, t, h, w), p.v.at(b, 0, h, w));
}

TEST_P(AttentionTiles, ZeroValuesGiveExactlyZero) {
  Problem<float> p({1, 100, 300, 1, 64, 64, 0.125});
  p.v.for_each([](float& x) { x = 0; });
  p.forward();
  p.backward(false);
  for (const double x : p.out.values()) ASSERT_EQ(x, 0.0);
  for (const double x : p.dq.values()) ASSERT_EQ(x, 0.0);
  for (const double x : p.dk.values()) ASSERT_EQ(x, 0.0);
}

TEST_P(AttentionTiles, WithoutKeysOutputAndGradientsAreZero) {
  Problem<float> p({2, 7, 0, 2, 16, 24, 0.25});
  p.forward();
  p.backward();
  for (const double x : p.out.values()) ASSERT_EQ(x, 0.0);
  for (const double x : widened(p.lse)) ASSERT_EQ(x, -infinity);
  for (const double x : p.dq.values()) ASSERT_EQ(x, 0.0);
}

TEST_P(AttentionTiles, QueriesThatSawNoKeyHaveNoGradient) {
  const AttentionSizes sizes{1, 100, 120, 1, 32, 32, 0.2};
  Problem<float> all(sizes), some(sizes);
  all.forward();
  some.forward();
  for (std::int64_t query = 40; query < 100; ++query) {
    some.lse[query] = -std::numeric_limits<float>::infinity();
    some.lse_gradient[query] = std::numeric_limits<float>::quiet_NaN();
    for (std::int64_t w = 0; w < 32; ++w) some.out.at(0, query, 0, w) = 0;
  }
  some.backward();
  for (std::int64_t query = 40; query < 100; ++query)
    for (std::int64_t w = 0; w < 32; ++w) ASSERT_EQ(some.dq.at(0, query, 0, w), 0.0F);
  Problem<float> first({1, 40, 120, 1, 32, 32, 0.2});
  first.q = all.q;
  first.k = all.k;
  first.v = all.v;
  first.out_gradient = all.out_gradient;
  first.lse_gradient.assign(all.lse_gradient.begin(), all.lse_gradient.begin() + 40);
  for (Operand<float>* each : {&first.q, &first.out_gradient}) {
    each->view.data = each->memory.data() + 8;
    each->extents[1] = 40;
  }
  for (Operand<float>* each : {&first.k, &first.v}) each->view.data = each->memory.data() + 8;
  first.forward();
  first.backward();
  EXPECT_LE(error(some.dk.values(), first.dk.values()), 1e-6);
  EXPECT_LE(error(some.dv.values(), first.dv.values()), 1e-6);
}

TEST_P(AttentionTiles, BlocksOfKeysWithTheGlobalLogSumExpAddUpToTheWhole) {
  const AttentionSizes sizes{1, 90, 260, 2, 48, 32, 0.15};
  Problem<float> whole(sizes);
  whole.forward();
  whole.backward();
  std::vector<double> dq(whole.dq.values().size(), 0.0), dk, dv;
  const std::int64_t bounds[] = {0, 101, 101, 260};
  for (int part = 0; part < 3; ++part) {
    Problem<float> block(sizes);
    block.forward();
    block.sizes.keys = bounds[part + 1] - bounds[part];
    for (Operand<float>* each : {&block.k, &block.v, &block.dk, &block.dv}) {
      each->view.data += bounds[part] * each->view.token_stride;
      each->extents[1] = block.sizes.keys;
    }
    block.backward();
    const std::vector<double> part_dq = block.dq.values();
    for (std::size_t i = 0; i < dq.size(); ++i) dq[i] += part_dq[i];
    for (std::int64_t key = 0; key < block.sizes.keys; ++key) {
      for (std::int64_t h = 0; h < sizes.heads; ++h) {
        for (std::int64_t w = 0; w < sizes.key_width; ++w) dk.push_back(block.dk.at(0, key, h, w));
        for (std::int64_t w = 0; w < sizes.value_width; ++w)
          dv.push_back(block.dv.at(0, key, h, w));
      }
    }
  }
  EXPECT_LE(error(dq, whole.dq.values()), 1e-6);
  EXPECT_LE(error(dk, whole.dk.values()), 1e-6);
  EXPECT_LE(error(dv, whole.dv.values()), 1e-6);
}

TEST_P(AttentionTiles, RankThreadsGetTheBitsOfOneThread) {
  const AttentionSizes sizes{1, 210, 330, 2, 40, 40, 0.15};
  Problem<float> alone(sizes);
  alone.forward();
  alone.backward();
  std::vector<std::unique_ptr<Problem<float>>> problems;
  for (int rank = 0; rank < 4; ++rank) problems.push_back(std::make_unique<Problem<float>>(sizes));
  std::vector<std::thread> ranks;
  for (auto& problem : problems) {
    ranks.emplace_back([&problem] {
      problem->forward();
      problem->backward();
    });
  }
  for (std::thread& rank : ranks) rank.join();
  for (auto& problem : problems) {
    EXPECT_EQ(problem->out.values(), alone.out.values());
    EXPECT_EQ(problem->lse, alone.lse);
    EXPECT_EQ(problem->dq.values(), alone.dq.values());
    EXPECT_EQ(problem->dk.values(), alone.dk.values());
    EXPECT_EQ(problem->dv.values(), alone.dv.values());
  }
}

TEST_P(AttentionTiles, NotANumberIsNotHidden) {
  Problem<float> p({1, 70, 130, 1, 16, 16, 0.25});
  p.k.at(0, 77, 0, 3) = std::numeric_limits<float>::quiet_NaN();
  p.forward();
  for (const double x : p.out.values()) ASSERT_TRUE(std::isnan(x));
}

TEST_P(AttentionTiles, WorkspaceIsThatOfOneHeadWithEveryInstructionSet) {
  for (const std::int64_t heads : {1, 8}) {
    const AttentionSizes sizes{heads, 4096, 1000, heads, 64, 48, 1.0};
    EXPECT_EQ(attention_forward_workspace_bytes(sizes, 4), 616704);
    EXPECT_EQ(attention_forward_workspace_bytes(sizes, 8), 1233408);
    EXPECT_EQ(attention_backward_workspace_bytes(sizes, 4), 3298816);
    EXPECT_EQ(attention_backward_workspace_bytes(sizes, 8), 6597504);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryLevel, AttentionTiles, testing::ValuesIn(isa_levels()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace shardlab::cpu
