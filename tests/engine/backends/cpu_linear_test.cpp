#include "engine/ops/linear.h"

#include <gtest/gtest.h>

#include <vector>

#include "engine/core/error.h"
#include "engine/ops/matmul.h"
#include "tests/engine/backends/cpu_kernels.h"

namespace shardlab::cpu {
namespace {

double product_bound(Dtype dtype) { return dtype == Dtype::float32 ? 2e-6 : 1e-14; }

struct LinearCase {
  Shape lead;
  std::int64_t in, out;
};

const std::vector<LinearCase> linear_cases{{{}, 3, 4},      {{5}, 1, 1},      {{7}, 33, 19},
                                           {{2, 3}, 64, 8}, {{0}, 5, 6},      {{4}, 0, 3},
                                           {{4}, 3, 0},     {{3, 50}, 70, 90}};

Shape with_last(Shape lead, std::int64_t last) {
  lead.push_back(last);
  return lead;
}

TEST(CpuLinear, RowsTimesWeightsOfAnyStridesPlusBiasEqualScalarLoops) {
  for_each_isa([&] {
    for (const Dtype dtype : floats)
      for (const LinearCase& c : linear_cases)
        for (const Lie& lie : {Lie{}, Lie{{1, 0}, 0, 0}, Lie{{}, 0, 5}, Lie{{}, 1, 0}})
          for (const bool with_bias : {false, true}) {
            const Numbers x = random_numbers(with_last(c.lead, c.in), 1);
            const Numbers w = random_numbers({c.out, c.in}, 2);
            const Numbers bias = random_numbers({c.out}, 3);
            Numbers expected(with_last(c.lead, c.out));
            const std::int64_t rows = c.lead.count();
            for (std::int64_t r = 0; r < rows; ++r)
              for (std::int64_t o = 0; o < c.out; ++o) {
                double sum = with_bias ? bias[o] : 0;
                for (std::int64_t i = 0; i < c.in; ++i) sum += x[r * c.in + i] * w[o * c.in + i];
                expected[r * c.out + o] = sum;
              }
            Operand rows_of_x(x, dtype);
            Operand weights(w, dtype, lie);
            Operand terms(bias, dtype);
            std::vector<Operand*> operands{&rows_of_x, &weights};
            if (with_bias) operands.push_back(&terms);
            EXPECT_LE(error_of(run_kernel(Linear(with_bias), operands)[0], expected),
                      product_bound(dtype))
                << to_string(c.lead) << " " << c.in << " " << c.out << " " << name_of(dtype);
          }
  });
}

TEST(CpuOuterSum, ProductsAreSummedOverAllLeadingDims) {
  for_each_isa([&] {
    for (const Dtype dtype : floats)
      for (const LinearCase& c : linear_cases) {
        const Numbers a = random_numbers(with_last(c.lead, c.out), 4);
        const Numbers b = random_numbers(with_last(c.lead, c.in), 5);
        Numbers expected({c.out, c.in});
        for (std::int64_t r = 0; r < c.lead.count(); ++r)
          for (std::int64_t o = 0; o < c.out; ++o)
            for (std::int64_t i = 0; i < c.in; ++i)
              expected[o * c.in + i] += a[r * c.out + o] * b[r * c.in + i];
        Operand left(a, dtype);
        Operand right(b, dtype);
        EXPECT_LE(error_of(run_kernel(OuterSum(), {&left, &right})[0], expected),
                  product_bound(dtype))
            << to_string(c.lead) << " " << c.in << " " << c.out << " " << name_of(dtype);
      }
  });
}

struct MatmulCase {
  Shape a, b;
};

std::int64_t batch_offset(const Shape& shape, const std::array<std::int64_t, max_ndim>& index,
                          int lead) {
  std::int64_t at = 0;
  const int extra = lead - (shape.ndim() - 2);
  for (int d = 0; d + 2 < shape.ndim(); ++d)
    at = at * shape[d] + (shape[d] == 1 ? 0 : index[d + extra]);
  return at * shape[shape.ndim() - 2] * shape[shape.ndim() - 1];
}

TEST(CpuMatmul, BroadcastStridedBatchesEqualScalarLoops) {
  const Matmul op;
  const std::vector<MatmulCase> cases{
      {{3, 4}, {4, 5}},          {{1, 1}, {1, 1}},
      {{2, 7, 9}, {9, 4}},       {{5, 6}, {3, 6, 2}},
      {{2, 1, 4, 3}, {5, 3, 6}}, {{2, 3, 17, 33}, {2, 3, 33, 18}},
      {{0, 3, 4}, {0, 4, 2}},    {{2, 3, 0}, {2, 0, 4}},
      {{4, 40, 50}, {50, 60}},   {{2, 2, 40, 50}, {60, 1, 2, 50, 30}}};
  for_each_isa([&] {
    for (const Dtype dtype : floats)
      for (const MatmulCase& c : cases)
        for (const bool strided : {false, true}) {
          const Numbers a = random_numbers(c.a, 6);
          const Numbers b = random_numbers(c.b, 7);
          // Matrices transposed in memory, heads between tokens.
          const auto lie = [&](const Shape& shape) {
            Lie result;
            if (!strided) return result;
            for (int d = 0; d < shape.ndim(); ++d) result.order.push_back(d);
            std::swap(result.order.end()[-1], result.order.end()[-2]);
            if (shape.ndim() > 2) std::swap(result.order.end()[-2], result.order.end()[-3]);
            return result;
          };
          Operand left(a, dtype, lie(c.a));
          Operand right(b, dtype, lie(c.b));
          const Numbers result = run_kernel(op, {&left, &right})[0];
          Numbers expected(result.shape);
          const int lead = result.shape.ndim() - 2;
          const std::int64_t depth = c.a[c.a.ndim() - 1];
          const std::int64_t columns = c.b[c.b.ndim() - 1];
          for_each_index(result.shape, [&](const auto& index, std::int64_t i) {
            const std::int64_t from_a = batch_offset(c.a, index, lead) + index[lead] * depth;
            const std::int64_t from_b = batch_offset(c.b, index, lead) + index[lead + 1];
            for (std::int64_t k = 0; k < depth; ++k)
              expected[i] += a[from_a + k] * b[from_b + k * columns];
          });
          EXPECT_LE(error_of(result, expected), product_bound(dtype))
              << to_string(c.a) << " " << to_string(c.b) << " " << name_of(dtype);
        }
  });
}

}  // namespace
}  // namespace shardlab::cpu
