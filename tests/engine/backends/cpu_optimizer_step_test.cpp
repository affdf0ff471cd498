#include "engine/ops/optimizer_step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/engine/backends/cpu_kernels.h"

namespace shardlab::cpu {
namespace {

const std::vector<Shape> parameter_shapes{{}, {0}, {1}, {5, 7}, {1031}};

TEST(CpuAdamW, StepsInPlaceEqualTheFormula) {
  const AdamWOptions o{3e-2, 0.8, 0.95, 1e-6, 0.1};
  for_each_isa([&] {
    for (const Dtype dtype : floats)
      for (const Shape& shape : parameter_shapes) {
        Numbers p = random_numbers(shape, 1);
        Numbers m(shape);
        Numbers v(shape);
        Operand parameter(p, dtype);
        Operand first(m, dtype);
        Operand second(v, dtype);
        for (int step = 1; step <= 3; ++step) {
          const Numbers g = random_numbers(shape, 10 + static_cast<std::uint64_t>(step));
          Operand gradient(g, dtype);
          const auto result = run_kernel(AdamW(o, step), {&parameter, &gradient, &first, &second});
          for (std::int64_t i = 0; i < shape.count(); ++i) {
            p[i] *= 1 - o.learning_rate * o.weight_decay;
            m[i] = o.beta1 * m[i] + (1 - o.beta1) * g[i];
            v[i] = o.beta2 * v[i] + (1 - o.beta2) * g[i] * g[i];
            const double mean = m[i] / (1 - std::pow(o.beta1, step));
            const double square = v[i] / (1 - std::pow(o.beta2, step));
            p[i] -= o.learning_rate * mean / (std::sqrt(square) + o.epsilon);
          }
          const double bound = dtype == Dtype::float32 ? 1e-6 : 1e-14;
          EXPECT_LE(error_of(result[0], p), bound) << step << to_string(shape) << name_of(dtype);
          EXPECT_LE(error_of(result[1], m), bound) << step << to_string(shape) << name_of(dtype);
          EXPECT_LE(error_of(result[2], v), bound) << step << to_string(shape) << name_of(dtype);
        }
      }
  });
}

TEST(CpuSgd, StepsInPlaceEqualTheFormula) {
  for (const SgdOptions& o : {SgdOptions{0.1},
                              {0.1, 0.9, 0, 0, false},
                              {0.1, 0.9, 0.3, 0.02, false},
                              {0.1, 0.8, 0, 0.02, true},
                              {0.1, 0, 0, 0.3, false}})
    for (const Dtype dtype : floats)
      for (const Shape& shape : parameter_shapes) {
        Numbers p = random_numbers(shape, 2);
        Numbers b = random_numbers(shape, 3);
        Operand parameter(p, dtype);
        Operand buffer(b, dtype);
        for (int step = 1; step <= 3; ++step) {
          const Numbers g = random_numbers(shape, 20 + static_cast<std::uint64_t>(step));
          Operand gradient(g, dtype);
          const auto result = run_kernel(Sgd(o, step), {&parameter, &gradient, &buffer});
          for (std::int64_t i = 0; i < shape.count(); ++i) {
            const double d = g[i] + o.weight_decay * p[i];
            b[i] = step == 1 ? d : o.momentum * b[i] + (1 - o.dampening) * d;
            const double along = o.momentum == 0 ? d : o.nesterov ? d + o.momentum * b[i] : b[i];
            p[i] -= o.learning_rate * along;
          }
          const double bound = dtype == Dtype::float32 ? 1e-6 : 1e-14;
          EXPECT_LE(error_of(result[0], p), bound) << step << to_string(shape) << name_of(dtype);
          EXPECT_LE(error_of(result[1], b), bound) << step << to_string(shape) << name_of(dtype);
        }
      }
}

}  // namespace
}  // namespace shardlab::cpu
