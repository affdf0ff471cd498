#include "engine/ops/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "engine/ops/arithmetic.h"
#include "tests/engine/backends/cpu_kernels.h"

namespace shardlab::cpu {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double at_broadcast(const Numbers& x, const std::array<std::int64_t, max_ndim>& index, int ndim) {
  std::int64_t at = 0;
  const int extra = ndim - x.shape.ndim();
  for (int d = 0; d < x.shape.ndim(); ++d)
    at = at * x.shape[d] + (x.shape[d] == 1 ? 0 : index[d + extra]);
  return x[at];
}

struct Pair {
  Shape a, b, out;
};

const std::vector<Pair> pairs{
    {{}, {}, {}},
    {{7}, {7}, {7}},
    {{0, 4}, {4}, {0, 4}},
    {{33, 65}, {33, 65}, {33, 65}},
    {{5, 37}, {37}, {5, 37}},
    {{5, 37}, {5, 1}, {5, 37}},
    {{5, 37}, {}, {5, 37}},
    {{1}, {3, 1300}, {3, 1300}},
    {{2, 1, 4, 1}, {3, 1, 5}, {2, 3, 4, 5}},
    {{3, 1, 5}, {2, 3, 4, 5}, {2, 3, 4, 5}},
};

TEST(CpuArithmetic, BroadcastAndStridedOperandsEqualScalarLoops) {
  const Add add;
  const Binary subtract(Binary::Kind::subtract);
  const Binary multiply(Binary::Kind::multiply);
  const Binary divide(Binary::Kind::divide);
  const std::vector<std::pair<const Op*, double (*)(double, double)>> ops{
      {&add, [](double a, double b) { return a + b; }},
      {&subtract, [](double a, double b) { return a - b; }},
      {&multiply, [](double a, double b) { return a * b; }},
      {&divide, [](double a, double b) { return a / b; }}};
  for_each_isa([&] {
    for (const Dtype dtype : floats)
      for (const Pair& pair : pairs) {
        const Numbers a = random_numbers(pair.a, 1);
        Numbers b = random_numbers(pair.b, 2);
        for (double& value : b.values) value += value < 0 ? -1 : 1;
        for (const int gap : {0, 1}) {
          std::vector<int> order;
          for (int d = pair.b.ndim() - 1; d >= 0 && gap > 0; --d) order.push_back(d);
          Operand left(a, dtype, {{}, gap, 0});
          Operand right(b, dtype, {order, 0, gap});
          for (const auto& [op, formula] : ops) {
            Numbers expected(pair.out);
            for_each_index(pair.out, [&](const auto& index, std::int64_t i) {
              expected[i] = formula(at_broadcast(a, index, pair.out.ndim()),
                                    at_broadcast(b, index, pair.out.ndim()));
            });
            EXPECT_LE(error_of(run_kernel(*op, {&left, &right})[0], expected), bound_of(dtype))
                << op->name() << " " << to_string(pair.a) << " " << to_string(pair.b) << " "
                << name_of(dtype);
          }
        }
      }
  });
}

TEST(CpuArithmetic, ScaleAndShiftReachEveryElementOfAnyStrides) {
  for_each_isa([&] {
    for (const Dtype dtype : floats)
      for (const Shape& shape : {Shape{}, Shape{0}, Shape{19}, Shape{7, 33}, Shape{3, 4, 5}})
        for (const int gap : {0, 2}) {
          const Numbers x = random_numbers(shape, 3);
          Operand operand(x, dtype, {{}, gap, gap});
          Numbers scaled = x;
          Numbers shifted = x;
          for (double& value : scaled.values) value *= -0.3;
          for (double& value : shifted.values) value += 1.7;
          EXPECT_LE(error_of(run_kernel(Scale(-0.3), {&operand})[0], scaled), bound_of(dtype));
          EXPECT_LE(error_of(run_kernel(Shift(1.7), {&operand})[0], shifted), bound_of(dtype));
        }
  });
}

/// A function of one element in long double, with two derivatives.
struct Formula {
  Function function;
  std::array<std::function<long double(long double)>, 3> derivative;
};

long double density(long double x) { return 0.39894228040143267794L * std::exp(-x * x / 2); }
long double below(long double x) { return std::erfc(-x * 0.70710678118654752440L) / 2; }
long double logistic(long double x) { return 1 / (1 + std::exp(-x)); }

const long double gelu_linear = std::sqrt(2 / std::acos(-1.0L));
const long double gelu_cubic = gelu_linear * 0.044715L;

std::vector<Formula> formulas() {
  const auto u = [](long double x) { return gelu_linear * x + gelu_cubic * x * x * x; };
  const auto u1 = [](long double x) { return gelu_linear + 3 * gelu_cubic * x * x; };
  const auto t = [u](long double x) { return std::tanh(u(x)); };
  const auto t1 = [t, u1](long double x) { return (1 - t(x) * t(x)) * u1(x); };
  const auto t2 = [t, u1](long double x) {
    return (1 - t(x) * t(x)) * (6 * gelu_cubic * x - 2 * t(x) * u1(x) * u1(x));
  };
  const auto s1 = [](long double x) { return logistic(x) * logistic(-x); };
  const auto s2 = [s1](long double x) { return s1(x) * (logistic(-x) - logistic(x)); };
  const auto sech2 = [](long double x) { return 1 / (std::cosh(x) * std::cosh(x)); };
  return {
      {Function::gelu_erf,
       {[](auto x) { return x * below(x); }, [](auto x) { return below(x) + x * density(x); },
        [](auto x) { return density(x) * (2 - x * x); }}},
      {Function::gelu_tanh,
       {[t](auto x) { return x * (1 + t(x)) / 2; },
        [t, t1](auto x) { return (1 + t(x) + x * t1(x)) / 2; },
        [t1, t2](auto x) { return t1(x) + x * t2(x) / 2; }}},
      {Function::tanh,
       {[](auto x) { return std::tanh(x); }, sech2,
        [sech2](auto x) { return -2 * std::tanh(x) * sech2(x); }}},
      {Function::relu,
       {[](auto x) { return x > 0 ? x : 0; }, [](auto x) { return x > 0 ? 1 : 0; },
        [](auto) { return 0; }}},
      {Function::silu,
       {[](auto x) { return x * logistic(x); }, [s1](auto x) { return logistic(x) + x * s1(x); },
        [s1, s2](auto x) { return 2 * s1(x) + x * s2(x); }}},
      {Function::sigmoid, {logistic, s1, s2}},
      {Function::exp,
       {[](auto x) { return std::exp(x); }, [](auto x) { return std::exp(x); },
        [](auto x) { return std::exp(x); }}},
      {Function::log,
       {[](auto x) { return std::log(x); }, [](auto x) { return 1 / x; },
        [](auto x) { return -1 / (x * x); }}},
  };
}

/// Every 1/64 from -11 to 11, or what log takes.
Numbers arguments_of(Function function) {
  Numbers x({37, 39});
  for (std::int64_t i = 0; i < x.shape.count(); ++i) {
    const double value = static_cast<double>(i - 703) / 64;
    x[i] = function == Function::log ? std::exp2(value) : value;
    x[i] = static_cast<double>(static_cast<float>(x[i]));
  }
  return x;
}

double function_bound(Dtype dtype) { return dtype == Dtype::float32 ? 2e-7 : 2e-15; }

TEST(CpuUnary, EveryFunctionEqualsLongDouble) {
  for_each_isa([&] {
    for (const Formula& formula : formulas())
      for (const Dtype dtype : floats)
        for (const int gap : {0, 1}) {
          const Numbers x = arguments_of(formula.function);
          Operand operand(x, dtype, {{}, 0, gap});
          Numbers expected = x;
          for (double& value : expected.values)
            value = static_cast<double>(formula.derivative[0](value));
          EXPECT_LE(error_of(run_kernel(Unary(formula.function), {&operand})[0], expected),
                    function_bound(dtype))
              << name_of(formula.function) << " " << name_of(dtype);
        }
  });
}

TEST(CpuUnary, BothDerivativesTimesACotangentEqualLongDouble) {
  for_each_isa([&] {
    for (const Formula& formula : formulas())
      for (const Dtype dtype : floats)
        for (const int order : {1, 2}) {
          const Numbers x = arguments_of(formula.function);
          const Numbers g = random_numbers(x.shape, 4);
          Operand at(x, dtype, {{1, 0}, 0, 0});
          Operand cotangent(g, dtype);
          Numbers expected = x;
          for (std::int64_t i = 0; i < x.shape.count(); ++i)
            expected[i] = g[i] * static_cast<double>(
                                     formula.derivative[static_cast<std::size_t>(order)](x[i]));
          const UnaryGradient op(formula.function, order);
          EXPECT_LE(error_of(run_kernel(op, {&cotangent, &at})[0], expected),
                    3 * function_bound(dtype))
              << op.name() << " " << name_of(dtype);
        }
  });
}

TEST(CpuUnary, SmallArgumentsKeepTheirDigits) {
  for_each_isa([&] {
    for (const Dtype dtype : floats) {
      const double bound = dtype == Dtype::float32 ? 3e-7 : 2e-15;
      for (const double size : {1e-1, 1e-2, 1e-4, 1e-8}) {
        const Numbers x = random_numbers({40}, 5, size);
        Operand operand(x, dtype);
        Numbers tanh = x;
        Numbers gelu = x;
        for (double& value : tanh.values) value = std::tanh(value);
        for (double& value : gelu.values) value = value * static_cast<double>(below(value));
        EXPECT_LE(error_of(run_kernel(Unary(Function::tanh), {&operand})[0], tanh), bound) << size;
        EXPECT_LE(error_of(run_kernel(Unary(Function::gelu_erf), {&operand})[0], gelu), bound)
            << size;
      }
    }
  });
}

TEST(CpuUnary, FarArgumentsReachTheLimits) {
  for_each_isa([&] {
    for (const Dtype dtype : floats) {
      Numbers x({4});
      x.values = {-1e4, 1e4, -200, 200};
      Operand operand(x, dtype);
      const auto value_of = [&](Function function) {
        return run_kernel(Unary(function), {&operand})[0].values;
      };
      const std::vector<double> gate{0, 1e4, 0, 200};
      EXPECT_EQ(value_of(Function::gelu_erf), gate);
      EXPECT_EQ(value_of(Function::gelu_tanh), gate);
      EXPECT_EQ(value_of(Function::relu), gate);
      EXPECT_EQ(value_of(Function::tanh), (std::vector<double>{-1, 1, -1, 1}));
      EXPECT_EQ(value_of(Function::sigmoid)[1], 1);
      EXPECT_NEAR(value_of(Function::sigmoid)[2], 0, 1e-37);
      EXPECT_EQ(value_of(Function::exp)[0], 0);
      EXPECT_EQ(value_of(Function::exp)[1], infinity);
    }
  });
}

TEST(CpuUnary, NotANumberStaysOne) {
  for_each_isa([&] {
    for (const Dtype dtype : floats) {
      Numbers x({3}, 1);
      x[1] = std::nan("");
      Operand operand(x, dtype);
      for (const Formula& formula : formulas()) {
        const Numbers y = run_kernel(Unary(formula.function), {&operand})[0];
        EXPECT_TRUE(std::isnan(y[1])) << name_of(formula.function) << " " << name_of(dtype);
        EXPECT_FALSE(std::isnan(y[0])) << name_of(formula.function) << " " << name_of(dtype);
      }
    }
  });
}

TEST(CpuUnary, LogarithmOfZeroAndBelowIsAsInTheLibrary) {
  for_each_isa([&] {
    for (const Dtype dtype : floats) {
      Numbers x({3});
      x.values = {0, -1, infinity};
      Operand operand(x, dtype);
      const Numbers y = run_kernel(Unary(Function::log), {&operand})[0];
      EXPECT_EQ(y[0], -infinity) << name_of(dtype);
      EXPECT_TRUE(std::isnan(y[1])) << name_of(dtype);
      EXPECT_EQ(y[2], infinity) << name_of(dtype);
    }
  });
}

}  // namespace
}  // namespace shardlab::cpu
