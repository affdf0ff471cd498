#include "engine/ops/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "engine/core/error.h"
#include "engine/ops/cross_entropy.h"
#include "tests/engine/backends/cpu_kernels.h"

namespace shardlab::cpu {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double row_bound(Dtype dtype) { return dtype == Dtype::float32 ? 1e-6 : 1e-14; }

Numbers softmax_of(const Numbers& x, int dim, bool logarithm) {
  Numbers result(x.shape);
  const Strides strides = dense_strides(x.shape);
  for_each_index(x.shape, [&](const auto& index, std::int64_t i) {
    const std::int64_t first = i - index[dim] * strides[dim];
    double most = -infinity;
    for (std::int64_t k = 0; k < x.shape[dim]; ++k)
      most = std::max(most, x[first + k * strides[dim]]);
    double sum = 0;
    for (std::int64_t k = 0; k < x.shape[dim]; ++k)
      sum += std::exp(x[first + k * strides[dim]] - most);
    result[i] = logarithm ? x[i] - most - std::log(sum) : std::exp(x[i] - most) / sum;
  });
  return result;
}

TEST(CpuSoftmax, AnyDimOfAnyShapeEqualsScalarLoops) {
  for_each_isa([&] {
    for (const Dtype dtype : floats)
      for (const Shape& shape : {Shape{1}, Shape{70}, Shape{5, 33}, Shape{3, 7, 67},
                                 Shape{2, 3, 4, 5}, Shape{0, 4}, Shape{4, 0}, Shape{40, 130}})
        for (int dim = 0; dim < shape.ndim(); ++dim)
          for (const double mean : {300.0, -300.0})
            for (const bool logarithm : {false, true}) {
              const Numbers x = random_numbers(shape, 1, 4, mean);
              Operand operand(x, dtype);
              EXPECT_LE(error_of(run_kernel(Softmax(dim, logarithm), {&operand})[0],
                                 softmax_of(x, dim, logarithm)),
                        row_bound(dtype))
                  << to_string(shape) << " dim " << dim << " " << name_of(dtype);
            }
  });
}

TEST(CpuSoftmax, MinusInfinityWeighsNothing) {
  for_each_isa([&] {
    for (const Dtype dtype : floats)
      for (const int dim : {0, 1}) {
        Numbers x = random_numbers({6, 6}, 2);
        for (const std::int64_t i : {0, 1, 8, 15, 35}) x[i] = -infinity;
        Operand operand(x, dtype);
        const Numbers y = run_kernel(Softmax(dim, false), {&operand})[0];
        const Numbers log = run_kernel(Softmax(dim, true), {&operand})[0];
        for (const std::int64_t i : {0, 1, 8, 15, 35}) {
          EXPECT_EQ(y[i], 0);
          EXPECT_EQ(log[i], -infinity);
        }
        EXPECT_LE(error_of(y, softmax_of(x, dim, false)), row_bound(dtype));
        EXPECT_LE(error_of(log, softmax_of(x, dim, true)), row_bound(dtype));
      }
  });
}

TEST(CpuSoftmax, ARowOfMinusInfinityIsNotANumberAsInTorch) {
  for_each_isa([&] {
    for (const Dtype dtype : floats)
      for (const bool logarithm : {false, true}) {
        Operand row(Numbers({1, 5}, -infinity), dtype);
        Operand column(Numbers({5, 2}, -infinity), dtype);
        const Numbers by_row = run_kernel(Softmax(1, logarithm), {&row})[0];
        const Numbers by_column = run_kernel(Softmax(0, logarithm), {&column})[0];
        for (const double y : by_row.values) EXPECT_TRUE(std::isnan(y)) << name_of(dtype);
        for (const double y : by_column.values) EXPECT_TRUE(std::isnan(y)) << name_of(dtype);
      }
  });
}

TEST(CpuSoftmax, NotANumberReachesTheWholeRow) {
  for_each_isa([&] {
    for (const int dim : {0, 1}) {
      Numbers x = random_numbers({3, 40}, 3);
      x[41] = std::nan("");
      Operand operand(x, Dtype::float32);
      const Numbers y = run_kernel(Softmax(dim, false), {&operand})[0];
      for_each_index(y.shape, [&](const auto& index, std::int64_t i) {
        EXPECT_EQ(std::isnan(y[i]), dim == 1 ? index[0] == 1 : index[1] == 1);
      });
    }
  });
}

struct Rows {
  Numbers loss, log_sum_exp, kept, gradient;
};

Rows cross_entropy_of(const Numbers& logits, const Numbers& targets, const Numbers& g,
                      const CrossEntropyOptions& options) {
  const std::int64_t rows = targets.shape.count();
  const std::int64_t classes = logits.shape[logits.shape.ndim() - 1];
  Rows result{targets, targets, targets, logits};
  const double s = options.label_smoothing;
  for (std::int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    double mean = 0;
    for (std::int64_t c = 0; c < classes; ++c) {
      sum += std::exp(logits[r * classes + c]);
      mean += logits[r * classes + c] / static_cast<double>(classes);
    }
    const double whole = std::log(sum);
    const auto target = static_cast<std::int64_t>(targets[r]);
    const bool kept = !options.ignore_index || target != *options.ignore_index;
    result.log_sum_exp[r] = whole;
    result.kept[r] = kept ? 1 : 0;
    result.loss[r] =
        kept ? (1 - s) * (whole - logits[r * classes + target]) + s * (whole - mean) : 0;
    for (std::int64_t c = 0; c < classes; ++c) {
      const double hit = c == target ? 1 - s : 0;
      result.gradient[r * classes + c] = kept ? g[r] * (std::exp(logits[r * classes + c] - whole) -
                                                        hit - s / static_cast<double>(classes))
                                              : 0;
    }
  }
  return result;
}

TEST(CpuCrossEntropy, LossesAndGradientsEqualScalarLoops) {
  for_each_isa([&] {
    for (const Dtype dtype : floats)
      for (const Shape& shape :
           {Shape{1, 2}, Shape{6, 10}, Shape{2, 3, 100}, Shape{0, 5}, Shape{7}})
        for (const CrossEntropyOptions& options :
             {CrossEntropyOptions{}, {0.1, std::nullopt}, {0, 3}, {0.2, -100}}) {
          const Numbers logits = random_numbers(shape, 4, 3);
          Shape lead;
          for (int d = 0; d + 1 < shape.ndim(); ++d) lead.push_back(shape[d]);
          Numbers targets(lead);
          const std::int64_t classes = shape[shape.ndim() - 1];
          for (std::int64_t r = 0; r < lead.count(); ++r)
            targets[r] = options.ignore_index == -100 && r % 3 == 1
                             ? -100
                             : static_cast<double>(r * 7 % classes);
          const Numbers g = random_numbers(lead, 5);
          const Rows expected = cross_entropy_of(logits, targets, g, options);
          Operand rows(logits, dtype);
          Operand hits(targets, Dtype::int64);
          Operand whole(expected.log_sum_exp, dtype);
          Operand cotangent(g, dtype);
          const auto result = run_kernel(CrossEntropy(options), {&rows, &hits});
          EXPECT_LE(error_of(result[0], expected.loss), row_bound(dtype));
          EXPECT_LE(error_of(result[1], expected.log_sum_exp), row_bound(dtype));
          EXPECT_EQ(result[2].values, expected.kept.values);
          EXPECT_LE(error_of(run_kernel(CrossEntropyGradient(options),
                                        {&rows, &hits, &whole, &cotangent})[0],
                             expected.gradient),
                    row_bound(dtype))
              << to_string(shape) << " " << name_of(dtype);
        }
  });
}

TEST(CpuCrossEntropy, LogitsOfMinusInfinityWithoutSmoothingGiveFiniteLosses) {
  Numbers logits({1, 4}, 1);
  logits[2] = -infinity;
  Operand rows(logits, Dtype::float32);
  Operand hits(Numbers({1}, 1), Dtype::int64);
  EXPECT_NEAR(run_kernel(CrossEntropy({}), {&rows, &hits})[0][0], std::log(3), 1e-6);
}

TEST(CpuCrossEntropy, ATargetThatIsNoClassIsNamed) {
  Operand rows(Numbers({2, 4}), Dtype::float32);
  for (const double wrong : {4.0, -1.0}) {
    Numbers targets({2}, 1);
    targets[1] = wrong;
    Operand hits(targets, Dtype::int64);
    try {
      run_kernel(CrossEntropy({}), {&rows, &hits});
      FAIL() << "a target of " << wrong << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::invalid);
      const std::string text = error.what();
      EXPECT_NE(text.find(std::to_string(static_cast<int>(wrong))), std::string::npos) << text;
      EXPECT_NE(text.find("4 classes"), std::string::npos) << text;
    }
  }
}

}  // namespace
}  // namespace shardlab::cpu
