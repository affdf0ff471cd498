#include "engine/ops/arithmetic.h"

#include "tests/support/op_case.h"

namespace shardlab::test {
namespace {

using Number = double (*)(double, double);
using Pair = Tensor (*)(const Tensor&, const Tensor&);

/// The element of an operand that meets element `i` of a result.
std::int64_t broadcast(const Shape& whole, const Shape& part, std::int64_t i) {
  std::int64_t index = 0;
  std::int64_t stride = 1;
  for (int d = 0; d < part.ndim(); ++d) {
    const int at = part.ndim() - 1 - d;
    const std::int64_t extent = whole[whole.ndim() - 1 - d];
    if (part[at] != 1) index += i % extent * stride;
    i /= extent;
    stride *= part[at];
  }
  return index;
}

OpCase pair(std::string name, Pair call, Number number, Binary::Kind kind, const Shape& a,
            const Shape& b, const Shape& whole) {
  OpCase c;
  c.name = std::move(name);
  c.inputs = {{numbers(a, 1)}, {numbers(b, 2)}};
  if (kind == Binary::Kind::divide)
    for (double& value : c.inputs[1].values.data) value = value < 0 ? value - 0.5 : value + 0.5;
  c.call = [call](std::span<const Tensor> in) { return std::vector{call(in[0], in[1])}; };
  c.reference = [number, whole](std::span<const Values> in) {
    Values y = zeros(whole);
    for (std::int64_t i = 0; i < whole.count(); ++i)
      y[i] =
          number(in[0][broadcast(whole, in[0].shape, i)], in[1][broadcast(whole, in[1].shape, i)]);
    return std::vector{y};
  };
  c.op = [kind] { return make_ref<Binary>(kind); };
  c.flop = whole.count();
  return c;
}

std::vector<OpCase> pairs() {
  struct Row {
    const char* name;
    Pair call;
    Number number;
    Binary::Kind kind;
  };
  const std::vector<Row> rows{
      {"Difference", subtract, [](double a, double b) { return a - b; }, Binary::Kind::subtract},
      {"Product", multiply, [](double a, double b) { return a * b; }, Binary::Kind::multiply},
      {"Quotient", divide, [](double a, double b) { return a / b; }, Binary::Kind::divide}};
  std::vector<OpCase> cases;
  for (const Row& row : rows) {
    const auto add = [&](const char* how, const Shape& a, const Shape& b, const Shape& whole) {
      cases.push_back(
          pair(std::string(row.name) + how, row.call, row.number, row.kind, a, b, whole));
    };
    add("OfEqualShapes", {5, 4}, {5, 4}, {5, 4});
    add("OfAVector", {2, 5, 4}, {4}, {2, 5, 4});
    add("StretchedBothWays", {5, 1}, {1, 4}, {5, 4});
    add("OfAScalar", {}, {5}, {5});
    add("OfNothing", {0, 3}, {0, 3}, {0, 3});
  }
  return cases;
}

OpCase single(std::string name, std::function<Tensor(const Tensor&)> call,
              std::function<double(double)> number, std::function<Ref<const Op>()> op) {
  OpCase c;
  c.name = std::move(name);
  c.inputs = {{numbers({5, 4}, 1)}};
  c.call = [call](std::span<const Tensor> in) { return std::vector{call(in[0])}; };
  c.reference = [number](std::span<const Values> in) {
    Values y = in[0];
    for (double& value : y.data) value = number(value);
    return std::vector{y};
  };
  c.op = std::move(op);
  c.flop = 20;
  return c;
}

INSTANTIATE_TEST_SUITE_P(Binary, OpCases, testing::ValuesIn(pairs()), name_of_case);
INSTANTIATE_TEST_SUITE_P(
    Factor, OpCases,
    testing::Values(single(
                        "Scale", [](const Tensor& x) { return scale(x, -2.5); },
                        [](double x) { return -2.5 * x; }, [] { return make_ref<Scale>(-2.5); }),
                    single(
                        "Shift", [](const Tensor& x) { return shift(x, 0.75); },
                        [](double x) { return x + 0.75; }, [] { return make_ref<Shift>(0.75); })),
    name_of_case);

OpCase same_operand_twice() {
  OpCase c;
  c.name = "ProductWithItself";
  c.inputs = {{numbers({5, 3}, 1)}};
  c.call = [](std::span<const Tensor> in) { return std::vector{multiply(in[0], in[0])}; };
  c.reference = [](std::span<const Values> in) {
    Values y = in[0];
    for (double& value : y.data) value *= value;
    return std::vector{y};
  };
  return c;
}
INSTANTIATE_TEST_SUITE_P(Square, OpCases, testing::Values(same_operand_twice()), name_of_case);

/// Whether a function leaves a pending sum pending, without a collective.
bool passes(const std::function<Tensor(const Tensor&)>& f) {
  World world;
  world.mesh = "domain=3";
  world.meta = true;
  bool passed = false;
  run_on(world, [&](Worker& worker, int) {
    const Tensor y = f(make(worker, numbers({4}), {{}, {0}, Reduction::sum}));
    passed = !y.layout()->partial().empty() && worker.trace().totals().collectives == 0;
  });
  return passed;
}

TEST(Arithmetic, PendingSumsPassThroughScaleAndDifferenceOnly) {
  EXPECT_TRUE(passes([](const Tensor& x) { return scale(x, 3); }));
  EXPECT_TRUE(passes([](const Tensor& x) { return subtract(x, x); }));
  EXPECT_FALSE(passes([](const Tensor& x) { return shift(x, 3); }));
  EXPECT_FALSE(passes([](const Tensor& x) { return multiply(x, x); }));
  EXPECT_FALSE(passes([](const Tensor& x) { return divide(x, x); }));
}

TEST(Arithmetic, DtypesThatDifferAreNamed) {
  EXPECT_EQ(error_of({},
                     [](Worker& worker) {
                       (void)multiply(make_of(worker, Dtype::float64, numbers({2}), {}),
                                      make_of(worker, Dtype::float32, numbers({2}), {}));
                     }),
            "invalid: rank 0: multiply: operand 1 is float32, operand 0 is float64");
}

TEST(Arithmetic, ShapesThatDoNotBroadcastAreNamed) {
  EXPECT_EQ(error_of({},
                     [](Worker& worker) {
                       (void)multiply(make(worker, numbers({2, 3})), make(worker, numbers({2})));
                     }),
            "invalid: rank 0: multiply: dim 0 of operand 1 is 2, which does not broadcast with 3");
}

}  // namespace
}  // namespace shardlab::test
