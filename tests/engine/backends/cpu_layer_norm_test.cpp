#include "engine/ops/layer_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/engine/backends/cpu_kernels.h"

namespace shardlab::cpu {
namespace {

constexpr double epsilon = 1e-5;

/// Rows, normalised in double.
struct Normalised {
  Normalised(const Numbers& x, const Numbers& weight, const Numbers& bias)
      : y(x.shape), centred(x.shape), mean({x.shape[0]}), scale({x.shape[0]}) {
    const std::int64_t width = x.shape[1];
    for (std::int64_t r = 0; r < x.shape[0]; ++r) {
      double sum = 0;
      for (std::int64_t i = 0; i < width; ++i) sum += x[r * width + i];
      mean[r] = width == 0 ? 0 : sum / static_cast<double>(width);
      double square = 0;
      for (std::int64_t i = 0; i < width; ++i) square += std::pow(x[r * width + i] - mean[r], 2);
      if (width > 0) square /= static_cast<double>(width);
      scale[r] = 1 / std::sqrt(square + epsilon);
      for (std::int64_t i = 0; i < width; ++i) {
        centred[r * width + i] = (x[r * width + i] - mean[r]) * scale[r];
        y[r * width + i] = centred[r * width + i] * weight[i] + bias[i];
      }
    }
  }
  Numbers y, centred, mean, scale;
};

std::vector<Numbers> gradients(const Normalised& at, const Numbers& weight, const Numbers& g) {
  const std::int64_t width = weight.shape[0];
  Numbers dx(g.shape);
  Numbers dw({width});
  Numbers db({width});
  for (std::int64_t r = 0; r < g.shape[0]; ++r) {
    double sum = 0;
    double product = 0;
    for (std::int64_t i = 0; i < width; ++i) {
      const double h = g[r * width + i] * weight[i];
      sum += h / static_cast<double>(width);
      product += h * at.centred[r * width + i] / static_cast<double>(width);
      dw[i] += g[r * width + i] * at.centred[r * width + i];
      db[i] += g[r * width + i];
    }
    for (std::int64_t i = 0; i < width; ++i)
      dx[r * width + i] =
          at.scale[r] * (g[r * width + i] * weight[i] - sum - at.centred[r * width + i] * product);
  }
  return {dx, dw, db};
}

const std::vector<Shape> row_shapes{{1, 1}, {3, 5}, {33, 64}, {70, 37}, {2, 1031}, {0, 7}, {4, 0}};

TEST(CpuLayerNorm, RowsAreNormalisedAndTheirMomentsHandedOut) {
  for_each_isa([&] {
    for (const Dtype dtype : floats)
      for (const Shape& shape : row_shapes) {
        const Numbers x = random_numbers(shape, 1, 2, -1);
        const Numbers weight = random_numbers({shape[1]}, 2);
        const Numbers bias = random_numbers({shape[1]}, 3);
        const Normalised expected(x, weight, bias);
        Operand rows(x, dtype);
        Operand weights(weight, dtype);
        Operand terms(bias, dtype);
        const auto result = run_kernel(LayerNorm(epsilon), {&rows, &weights, &terms});
        const double bound = dtype == Dtype::float32 ? 1e-6 : 1e-14;
        EXPECT_LE(error_of(result[0], expected.y), bound) << to_string(shape) << name_of(dtype);
        EXPECT_LE(error_of(result[1], expected.mean), bound) << to_string(shape) << name_of(dtype);
        EXPECT_LE(error_of(result[2], expected.scale), bound) << to_string(shape) << name_of(dtype);
      }
  });
}

TEST(CpuLayerNorm, GradientsEqualScalarLoops) {
  for_each_isa([&] {
    for (const Dtype dtype : floats)
      for (const Shape& shape : row_shapes) {
        const Numbers x = random_numbers(shape, 4, 2, -1);
        const Numbers weight = random_numbers({shape[1]}, 5);
        const Numbers g = random_numbers(shape, 6);
        const Normalised at(x, weight, Numbers({shape[1]}));
        Operand rows(x, dtype);
        Operand weights(weight, dtype);
        Operand mean(at.mean, dtype);
        Operand scale(at.scale, dtype);
        Operand cotangent(g, dtype);
        const auto result =
            run_kernel(LayerNormGradient(), {&rows, &weights, &mean, &scale, &cotangent});
        const auto expected = gradients(at, weight, g);
        for (std::size_t i = 0; i < 3; ++i)
          EXPECT_LE(error_of(result[i], expected[i]), dtype == Dtype::float32 ? 1e-6 : 1e-14)
              << "gradient " << i << " " << to_string(shape) << name_of(dtype);
      }
  });
}

TEST(CpuLayerNorm, AMeanFarAboveTheDeviationCostsNoDigits) {
  const Shape shape{9, 768};
  const Numbers x = random_numbers(shape, 7, 1e-2, 1e4);
  const Numbers weight(Shape{768}, 1);
  const Numbers bias({768});
  const Numbers g = random_numbers(shape, 8);
  const Normalised expected(x, weight, bias);
  for_each_isa([&] {
    Operand rows(x, Dtype::float32);
    Operand weights(weight, Dtype::float32);
    Operand terms(bias, Dtype::float32);
    const auto result = run_kernel(LayerNorm(epsilon), {&rows, &weights, &terms});
    EXPECT_LE(error_of(result[0], expected.y), 1e-6);
    Operand mean(result[1], Dtype::float32);
    Operand scale(result[2], Dtype::float32);
    Operand cotangent(g, Dtype::float32);
    const auto back = run_kernel(LayerNormGradient(), {&rows, &weights, &mean, &scale, &cotangent});
    const auto exact = gradients(expected, weight, g);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_LE(error_of(back[i], exact[i]), 2e-6) << i;
  });
}

}  // namespace
}  // namespace shardlab::cpu
