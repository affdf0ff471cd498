#include "engine/ops/linear.h"

#include "engine/ops/permute.h"
#include "tests/support/op_case.h"

namespace shardlab::test {
namespace {

/// x [rows, i] times w [o, i] transposed, plus b.
Values product(const Values& x, const Values& w, const Values* bias) {
  const int last = x.shape.ndim() - 1;
  const std::int64_t i = x.shape[last];
  const std::int64_t o = w.shape[0];
  Shape shape = x.shape;
  shape[last] = o;
  Values y = zeros(shape);
  const std::int64_t rows = shape.count() / o;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < o; ++c) {
      double sum = bias == nullptr ? 0 : (*bias)[c];
      for (std::int64_t k = 0; k < i; ++k) sum += x[r * i + k] * w[c * i + k];
      y[r * o + c] = sum;
    }
  return y;
}

OpCase plain(std::string name, const Shape& x, const Shape& w) {
  OpCase c;
  c.name = std::move(name);
  c.inputs = {{numbers(x, 1)}, {numbers(w, 2)}};
  c.call = [](std::span<const Tensor> in) { return std::vector{linear(in[0], in[1])}; };
  c.reference = [](std::span<const Values> in) {
    return std::vector{product(in[0], in[1], nullptr)};
  };
  c.op = [] { return make_ref<Linear>(false); };
  c.flop = 2 * x.count() * w[0];
  return c;
}

OpCase biased(std::string name, const Shape& x, const Shape& w) {
  OpCase c = plain(std::move(name), x, w);
  c.inputs.push_back({numbers({w[0]}, 3)});
  c.call = [](std::span<const Tensor> in) { return std::vector{linear(in[0], in[1], in[2])}; };
  c.reference = [](std::span<const Values> in) {
    return std::vector{product(in[0], in[1], &in[2])};
  };
  c.op = [] { return make_ref<Linear>(true); };
  return c;
}

OpCase outer() {
  OpCase c;
  c.name = "OuterSumOfThreeDims";
  c.inputs = {{numbers({2, 5, 3}, 1)}, {numbers({2, 5, 4}, 2)}};
  c.call = [](std::span<const Tensor> in) { return std::vector{outer_sum(in[0], in[1])}; };
  c.reference = [](std::span<const Values> in) {
    Values y = zeros({3, 4});
    for (std::int64_t r = 0; r < 10; ++r)
      for (std::int64_t o = 0; o < 3; ++o)
        for (std::int64_t i = 0; i < 4; ++i) y[o * 4 + i] += in[0][r * 3 + o] * in[1][r * 4 + i];
    return std::vector{y};
  };
  c.op = [] { return make_ref<OuterSum>(); };
  c.flop = 2 * 10 * 3 * 4;
  return c;
}

OpCase strided() {
  OpCase c = plain("OfATransposedWeight", {5, 4}, {3, 4});
  c.inputs[1] = {numbers({4, 3}, 2)};
  c.call = [](std::span<const Tensor> in) {
    return std::vector{linear(in[0], transpose(in[1], 0, 1))};
  };
  c.reference = [](std::span<const Values> in) {
    Values w = zeros({3, 4});
    for (std::int64_t o = 0; o < 3; ++o)
      for (std::int64_t i = 0; i < 4; ++i) w[o * 4 + i] = in[1][i * 3 + o];
    return std::vector{product(in[0], w, nullptr)};
  };
  c.op = nullptr;
  return c;
}

INSTANTIATE_TEST_SUITE_P(Linear, OpCases,
                         testing::Values(plain("OfAMatrix", {5, 4}, {3, 4}),
                                         plain("OfThreeDims", {2, 5, 4}, {3, 4}),
                                         plain("OfNoInputs", {5, 0}, {3, 0}),
                                         biased("WithBias", {2, 5, 4}, {3, 4}),
                                         biased("WithBiasOfNoInputs", {5, 0}, {3, 0}),
                                         biased("OfNoRows", {0, 4}, {3, 4}), strided(), outer()),
                         name_of_case);

TEST(Linear, AContractedDimCutGivesAPartialResultAndMovesNothing) {
  World world;
  world.mesh = "model=3";
  world.meta = true;
  run_on(world, [](Worker& worker, int) {
    const Tensor x = make(worker, numbers({4, 6}), cut(1, {3, 0, 3}));
    const Tensor w = make(worker, numbers({2, 6}), cut(1, {3, 0, 3}));
    const Tensor y = linear(x, w);
    EXPECT_TRUE(y.layout()->partial().contains(0));
    EXPECT_EQ(worker.trace().totals().collectives, 0);
  });
}

TEST(Linear, ASizeThatDoesNotFitIsNamed) {
  EXPECT_EQ(error_of({},
                     [](Worker& worker) {
                       (void)linear(make(worker, numbers({4, 6})), make(worker, numbers({2, 5})));
                     }),
            "invalid: rank 0: linear: i is 5 in operand 1, but 6 before");
}

}  // namespace
}  // namespace shardlab::test
