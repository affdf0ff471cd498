#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "engine/dispatch/intrinsic.h"
#include "engine/ops/reduce.h"
#include "tests/engine/backends/cpu_kernels.h"

namespace shardlab::cpu {
namespace {

Numbers summed(const Numbers& x, std::uint32_t mask, bool keep) {
  Shape shape;
  for (int d = 0; d < x.shape.ndim(); ++d) {
    if ((mask >> d & 1U) == 0)
      shape.push_back(x.shape[d]);
    else if (keep)
      shape.push_back(1);
  }
  Numbers result(shape);
  for_each_index(x.shape, [&](const auto& index, std::int64_t i) {
    std::int64_t at = 0;
    for (int d = 0; d < x.shape.ndim(); ++d)
      if ((mask >> d & 1U) == 0) at = at * x.shape[d] + index[d];
    result[at] += x[i];
  });
  return result;
}

double sum_bound(Dtype dtype) { return dtype == Dtype::float32 ? 3e-7 : 1e-14; }

TEST(CpuSum, EveryMaskOfDimsEqualsScalarLoops) {
  for_each_isa([&] {
    for (const Dtype dtype : floats)
      for (const Shape& shape :
           {Shape{}, Shape{1300}, Shape{37, 53}, Shape{9, 2100}, Shape{300, 3}, Shape{5003, 3},
            Shape{3, 1, 5}, Shape{4, 7, 5, 6}, Shape{2, 3, 4, 2, 3, 19}})
        for (std::uint32_t mask = 0; mask < 1U << shape.ndim(); ++mask)
          for (const bool keep : {false, true}) {
            const Numbers x = random_numbers(shape, 1, 1, 1);
            Operand operand(x, dtype);
            EXPECT_LE(error_of(run_kernel(Sum(mask, keep), {&operand})[0], summed(x, mask, keep)),
                      sum_bound(dtype))
                << to_string(shape) << " mask " << mask << " " << name_of(dtype);
          }
  });
}

TEST(CpuSum, NothingAddsUpToZero) {
  for (const Shape& shape : {Shape{0}, Shape{0, 3}, Shape{3, 0}, Shape{2, 0, 3}})
    for (std::uint32_t mask = 0; mask < 1U << shape.ndim(); ++mask) {
      const Numbers x(shape);
      Operand operand(x, Dtype::float32);
      const Numbers expected = summed(x, mask, true);
      EXPECT_EQ(run_kernel(Sum(mask, true), {&operand})[0].values, expected.values)
          << to_string(shape) << " mask " << mask;
    }
}

TEST(CpuSum, LongFloat32SumsOfOneSignKeepSevenDigits) {
  const Numbers x = random_numbers({900, 1100}, 2, 0.3, 1);
  const std::array<Numbers, 3> expected{summed(x, 1, false), summed(x, 2, false),
                                        summed(x, 3, false)};
  Operand operand(x, Dtype::float32);
  for_each_isa([&] {
    for (const std::uint32_t mask : {1U, 2U, 3U})
      EXPECT_LE(error_of(run_kernel(Sum(mask, false), {&operand})[0], expected[mask - 1]), 2e-7)
          << "mask " << mask;
  });
}

TEST(CpuSumTo, BroadcastDimsAreSummedBack) {
  const Shape whole{2, 3, 4, 5};
  for_each_isa([&] {
    for (const Dtype dtype : floats)
      for (const Shape& shape :
           {Shape{}, Shape{1}, Shape{5}, Shape{4, 1}, Shape{3, 1, 5}, Shape{2, 1, 1, 5}, whole}) {
        const Numbers x = random_numbers(whole, 3);
        Operand operand(x, dtype);
        const int extra = whole.ndim() - shape.ndim();
        Numbers expected(shape);
        for_each_index(whole, [&](const auto& index, std::int64_t i) {
          std::int64_t at = 0;
          for (int d = 0; d < shape.ndim(); ++d)
            at = at * shape[d] + (shape[d] == 1 ? 0 : index[d + extra]);
          expected[at] += x[i];
        });
        EXPECT_LE(error_of(run_kernel(SumTo(shape), {&operand})[0], expected), sum_bound(dtype))
            << to_string(shape) << " " << name_of(dtype);
      }
  });
}

TEST(CpuSumTo, ARankWithoutRowsHandsOutZeros) {
  Operand operand(Numbers({0, 4}), Dtype::float32);
  const Spec out{{4}, Dtype::float32, nullptr};
  EXPECT_EQ(run_kernel(SumTo({4}), {&operand}, {out})[0].values, Numbers({4}).values);
}

}  // namespace
}  // namespace shardlab::cpu
