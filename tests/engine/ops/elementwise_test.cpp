#include "engine/ops/elementwise.h"

#include <cmath>

#include "engine/ops/arithmetic.h"
#include "tests/support/op_case.h"

namespace shardlab::test {
namespace {

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

double reference_of(Function function, double x) {
  switch (function) {
    case Function::gelu_erf:
      return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    case Function::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Function::tanh:
      return std::tanh(x);
    case Function::relu:
      return x > 0 ? x : 0;
    case Function::silu:
      return x * sigmoid_of(x);
    case Function::sigmoid:
      return sigmoid_of(x);
    case Function::exp:
      return std::exp(x);
    case Function::log:
      return std::log(x);
  }
  return 0;
}

constexpr std::array<Tensor (*)(const Tensor&), function_count> calls{gelu, gelu_tanh, tanh, relu,
                                                                      silu, sigmoid,   exp,  log};

Values inputs_of(Function function, const Shape& shape) {
  Values x = numbers(shape, 7);
  for (double& value : x.data)
    value = function == Function::log ? std::abs(value) + 0.1 : 3 * value;
  return x;
}

std::vector<OpCase> functions() {
  std::vector<OpCase> cases;
  for (int f = 0; f < function_count; ++f) {
    const auto function = static_cast<Function>(f);
    for (const Shape& shape : {Shape{5, 3}, Shape{0, 3}, Shape{}, Shape{67}}) {
      OpCase c;
      c.name = std::string(name_of(function)) + "_of_" + std::to_string(shape.count());
      c.inputs = {{inputs_of(function, shape)}};
      c.call = [f](std::span<const Tensor> in) { return std::vector{calls[f](in[0])}; };
      c.reference = [function](std::span<const Values> in) {
        Values y = in[0];
        for (double& value : y.data) value = reference_of(function, value);
        return std::vector{y};
      };
      c.op = [function] { return make_ref<Unary>(function); };
      cases.push_back(std::move(c));
    }
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Unary, OpCases, testing::ValuesIn(functions()), name_of_case);

class EveryFunction : public testing::TestWithParam<int> {};

TEST_P(EveryFunction, SecondDerivativeEqualsDifferencesOfTheFirst) {
  const int f = GetParam();
  const auto function = static_cast<Function>(f);
  const Values x = inputs_of(function, {9});
  for (const std::vector<std::int64_t>& sizes : {std::vector<std::int64_t>{3, 3, 3}, {7, 0, 2}}) {
    World world;
    world.mesh = "domain=3";
    const Values found = on_all(world, [&](Worker& worker) {
      const Tensor leaf = make(worker, x, cut(0, sizes), true);
      const std::vector<Tensor> y{calls[f](leaf)};
      const std::vector<Tensor> wrt{leaf};
      const std::vector<Tensor> seed{make(worker, numbers({9}, 3))};
      const std::vector<Tensor> g = gradients(y, wrt, seed, {true, 0});
      const std::vector<Tensor> square{multiply(g[0], g[0])};
      const std::vector<Tensor> ones{make(worker, Values{{9}, std::vector<double>(9, 1.0)})};
      return whole_values(gradients(square, wrt, ones)[0]);
    });
    Values expected = zeros({9});
    const Values seed = numbers({9}, 3);
    const auto slope_squared = [&](std::int64_t i, double at) {
      constexpr double h = 1e-3;
      // Five points, so that the difference of a difference keeps its digits.
      const auto y = [&](double dx) { return reference_of(function, at + dx); };
      const double slope = (8 * (y(h) - y(-h)) - (y(2 * h) - y(-2 * h))) / (12 * h);
      return seed[i] * seed[i] * slope * slope;
    };
    for (std::int64_t i = 0; i < 9; ++i) {
      constexpr double h = 1e-3;
      expected[i] = (8 * (slope_squared(i, x[i] + h) - slope_squared(i, x[i] - h)) -
                     (slope_squared(i, x[i] + 2 * h) - slope_squared(i, x[i] - 2 * h))) /
                    (12 * h);
    }
    EXPECT_TRUE(close(found, expected, 1e-6)) << name_of(function);
  }
}
INSTANTIATE_TEST_SUITE_P(Second, EveryFunction, testing::Range(0, function_count),
                         [](const testing::TestParamInfo<int>& info) {
                           return std::string(name_of(static_cast<Function>(info.param)));
                         });

TEST(Elementwise, LargeArgumentsStayFinite) {
  const Values x{{4}, {-800, -40, 40, 800}};
  for (const auto call : {gelu, gelu_tanh, tanh, silu, sigmoid}) {
    const Values y =
        on_all({}, [&](Worker& worker) { return whole_values(call(make(worker, x))); });
    for (const double value : y.data) EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(Elementwise, TheGradientOfReluAtZeroIsZero) {
  const Values g = on_all({}, [](Worker& worker) {
    const std::vector<Tensor> x{make(worker, Values{{3}, {-1, 0, 1}}, {}, true)};
    const std::vector<Tensor> y{relu(x[0])};
    const std::vector<Tensor> seed{make(worker, Values{{3}, {1, 1, 1}})};
    return whole_values(gradients(y, x, seed)[0]);
  });
  EXPECT_EQ(g.data, (std::vector<double>{0, 0, 1}));
}

}  // namespace
}  // namespace shardlab::test
