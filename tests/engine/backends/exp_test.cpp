#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/backends/cpu/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/engine/backends/exp_test.cpp"
#include <hwy/foreach_target.h>
// Highway needs this order.
#include <hwy/highway.h>

#include "engine/backends/cpu/exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu {
namespace HWY_NAMESPACE {

template <typename T>
void exp_all(std::vector<T>& values) {
  const hn::ScalableTag<T> d;
  values.resize((values.size() + hn::Lanes(d) - 1) / hn::Lanes(d) * hn::Lanes(d));
  for (std::size_t i = 0; i < values.size(); i += hn::Lanes(d))
    hn::StoreU(exp_any(d, hn::LoadU(d, values.data() + i)), d, values.data() + i);
}

void exp_all_float(std::vector<float>& values) { exp_all(values); }
void exp_all_double(std::vector<double>& values) { exp_all(values); }

}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardlab::cpu {
namespace {

HWY_EXPORT(exp_all_float);
HWY_EXPORT(exp_all_double);

void exp_all(std::vector<float>& values) { HWY_DYNAMIC_DISPATCH(exp_all_float)(values); }
void exp_all(std::vector<double>& values) { HWY_DYNAMIC_DISPATCH(exp_all_double)(values); }

class Exp : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { restrict_isa_for_test(GetParam()); }
  void TearDown() override { restrict_isa_for_test(""); }
};

/// Largest relative error against the C library at twice the precision or its best.
template <typename T, typename Wide>
double largest_error(T lowest, T highest, int count) {
  std::vector<T> x, y;
  for (int i = 0; i <= count; ++i)
    x.push_back(lowest + (highest - lowest) * (static_cast<T>(i) / static_cast<T>(count)));
  y = x;
  exp_all(y);
  Wide largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Wide exact = std::exp(static_cast<Wide>(x[i]));
    largest = std::max(largest, std::abs(static_cast<Wide>(y[i]) - exact) / exact);
  }
  return static_cast<double>(largest);
}

TEST_P(Exp, OfFloat32IsWithinTwoUnitsOfTheLastPlaceNearZero) {
  EXPECT_LE((largest_error<float, double>(-20.0F, 20.0F, 1000000)), 2.2e-7);
}

TEST_P(Exp, OfFloat32IsCloseOverTheWholeRange) {
  EXPECT_LE((largest_error<float, double>(-87.3F, 88.7F, 1000000)), 5e-7);
}

TEST_P(Exp, OfFloat64IsWithinTwoUnitsOfTheLastPlace) {
  EXPECT_LE((largest_error<double, long double>(-708.3, 709.7, 300000)), 4.4e-16);
}

template <typename T>
void expect_edges() {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  constexpr T large = std::numeric_limits<T>::max();
  std::vector<T> y{0,        -infinity, -large,   T(-710),
                   infinity, large,     T(710.5), std::numeric_limits<T>::quiet_NaN()};
  exp_all(y);
  EXPECT_EQ(y[0], T(1));
  EXPECT_EQ(y[1], T(0));
  EXPECT_EQ(y[2], T(0));
  EXPECT_EQ(y[3], T(0));
  EXPECT_EQ(y[4], infinity);
  EXPECT_EQ(y[5], infinity);
  EXPECT_EQ(y[6], infinity);
  EXPECT_TRUE(std::isnan(y[7]));
}

TEST_P(Exp, IsExactAtZeroVanishesBelowOverflowsAboveAndKeepsNotANumber) {
  expect_edges<float>();
  expect_edges<double>();
}

TEST_P(Exp, ReachesTheLargestNumberAndTheSmallestNormalOne) {
  std::vector<float> y{88.72F, -87.33F};
  exp_all(y);
  EXPECT_NEAR(y[0] / std::exp(double{88.72F}), 1.0, 5e-7);
  EXPECT_NEAR(y[1] / std::exp(double{-87.33F}), 1.0, 5e-7);
}

INSTANTIATE_TEST_SUITE_P(EveryLevel, Exp, testing::ValuesIn(isa_levels()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace shardlab::cpu
#endif
