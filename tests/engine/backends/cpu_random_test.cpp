#include "engine/ops/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "tests/engine/backends/cpu_kernels.h"

namespace shardlab::cpu {
namespace {

using Kind = Random::Kind;

Numbers drawn(const Random::Options& options, Dtype dtype, const Shape& shape,
              const Part& part = {}) {
  return run_kernel(Random(options, {shape, dtype, nullptr}), {}, {{shape, dtype, nullptr}},
                    part)[0];
}

TEST(CpuRandom, EachRankDrawsItsPartOfTheWhole) {
  const Shape whole{5, 6, 7};
  for (const Kind kind : {Kind::normal, Kind::uniform, Kind::integer}) {
    const Dtype dtype = kind == Kind::integer ? Dtype::int64 : Dtype::float32;
    const Random::Options options{kind, 9, 4, 2};
    const Numbers all = drawn(options, dtype, whole);
    const std::vector<std::pair<Shape, Shape>> parts{
        {{0, 0, 0}, {2, 3, 4}}, {{1, 2, 3}, {2, 3, 4}}, {{4, 5, 6}, {1, 1, 1}},
        {{2, 6, 0}, {2, 0, 7}}, {{1, 0, 0}, {3, 6, 7}}, {{1, 2, 0}, {2, 3, 7}},
        {{0, 0, 3}, {5, 6, 2}}, {{0, 0, 0}, {5, 6, 7}}};
    for (const auto& [start, local] : parts) {
      const Numbers part = drawn(options, dtype, local, {start, whole});
      for_each_index(local, [&](const auto& index, std::int64_t i) {
        const std::int64_t at =
            ((start[0] + index[0]) * 6 + start[1] + index[1]) * 7 + start[2] + index[2];
        EXPECT_EQ(part[i], all[at]) << to_string(start) << to_string(local);
      });
    }
  }
}

TEST(CpuRandom, Float64HoldsTheFloat32Values) {
  for (const Kind kind : {Kind::normal, Kind::uniform})
    for (const double scale : {1.0, 0.02, 3.7})
      EXPECT_EQ(drawn({kind, scale, 5, 1}, Dtype::float64, {999}).values,
                drawn({kind, scale, 5, 1}, Dtype::float32, {999}).values);
}

TEST(CpuRandom, EveryInstructionSetDrawsTheSame) {
  for (const Kind kind : {Kind::normal, Kind::uniform}) {
    const Numbers expected = drawn({kind, 1, 5, 1}, Dtype::float32, {5000});
    for_each_isa([&] {
      EXPECT_EQ(drawn({kind, 1, 5, 1}, Dtype::float32, {5000}).values, expected.values);
    });
  }
}

TEST(CpuRandom, SeedAndCallChangeTheValues) {
  const Numbers one = drawn({Kind::normal, 1, 1, 1}, Dtype::float32, {50});
  EXPECT_NE(one.values, drawn({Kind::normal, 1, 2, 1}, Dtype::float32, {50}).values);
  EXPECT_NE(one.values, drawn({Kind::normal, 1, 1, 2}, Dtype::float32, {50}).values);
}

TEST(CpuRandom, NormalValuesFollowTheBoxMullerFormula) {
  const Numbers values = drawn({Kind::normal, 2, 11, 3}, Dtype::float32, {4000});
  for (std::int64_t i = 0; i < 4000; ++i) {
    const std::uint64_t bits = random_bits(11, 3, static_cast<std::uint64_t>(i));
    const double radius = (static_cast<double>(bits >> 32) + 1) / 4294967296.0;
    const double turn = static_cast<double>(bits & 0xffffffffU) / 4294967296.0;
    const double exact =
        2 * std::sqrt(-2 * std::log(radius)) * std::cos(2 * std::acos(-1.0) * turn);
    EXPECT_NEAR(values[i], exact, 1e-6 * std::max(1.0, std::abs(exact)));
  }
}

TEST(CpuRandom, MomentsAreThoseOfTheDistribution) {
  const std::int64_t n = 200000;
  const auto moments = [&](const Numbers& values) {
    std::array<double, 4> sums{};
    for (const double x : values.values)
      for (int k = 0; k < 4; ++k) sums[static_cast<std::size_t>(k)] += std::pow(x, k + 1) / n;
    return sums;
  };
  const auto normal = moments(drawn({Kind::normal, 2, 1, 1}, Dtype::float32, {n}));
  EXPECT_NEAR(normal[0], 0, 0.02);
  EXPECT_NEAR(normal[1], 4, 0.06);
  EXPECT_NEAR(normal[2], 0, 0.3);
  EXPECT_NEAR(normal[3], 48, 2);
  const auto uniform = moments(drawn({Kind::uniform, 3, 1, 1}, Dtype::float32, {n}));
  EXPECT_NEAR(uniform[0], 1.5, 0.01);
  EXPECT_NEAR(uniform[1], 3, 0.03);
}

TEST(CpuRandom, UniformAndIntegerValuesStayBelowTheBound) {
  for (const double bound : {1.0, 0.1, 3.0, 1e-30}) {
    const Numbers values = drawn({Kind::uniform, bound, 1, 1}, Dtype::float32, {20000});
    for (const double value : values.values) {
      EXPECT_GE(value, 0);
      EXPECT_LT(value, bound);
    }
  }
  std::vector<int> seen(7);
  const Numbers whole = drawn({Kind::integer, 7, 1, 1}, Dtype::int64, {7000});
  for (const double value : whole.values) {
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 7);
    ++seen[static_cast<std::size_t>(value)];
  }
  for (const int count : seen) EXPECT_NEAR(count, 1000, 150);
}

TEST(CpuRandom, Int64HasWholeNumbersOnly) {
  EXPECT_THROW(drawn({Kind::normal, 1, 1, 1}, Dtype::int64, {3}), Error);
}

}  // namespace
}  // namespace shardlab::cpu
