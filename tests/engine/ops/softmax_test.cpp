#include "engine/ops/softmax.h"

#include <cmath>

#include "tests/support/op_case.h"

namespace shardlab::test {
namespace {

Values along(const Values& x, int dim, bool logarithm) {
  std::int64_t inner = 1;
  for (int d = dim + 1; d < x.shape.ndim(); ++d) inner *= x.shape[d];
  const std::int64_t n = x.shape[dim];
  Values y = x;
  for (std::int64_t row = 0; row < x.shape.count() / std::max<std::int64_t>(1, n); ++row) {
    const std::int64_t base = row / inner * n * inner + row % inner;
    double most = -INFINITY;
    for (std::int64_t i = 0; i < n; ++i) most = std::max(most, x[base + i * inner]);
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += std::exp(x[base + i * inner] - most);
    for (std::int64_t i = 0; i < n; ++i) {
      const double shifted = x[base + i * inner] - most;
      y[base + i * inner] = logarithm ? shifted - std::log(sum) : std::exp(shifted) / sum;
    }
  }
  return y;
}

OpCase over(std::string name, const Shape& shape, int dim, bool logarithm) {
  OpCase c;
  c.name = std::move(name);
  c.inputs = {{numbers(shape, 5)}};
  for (double& value : c.inputs[0].values.data) value *= 3;
  c.call = [=](std::span<const Tensor> in) {
    return std::vector{logarithm ? log_softmax(in[0], dim) : softmax(in[0], dim)};
  };
  c.reference = [=](std::span<const Values> in) {
    return std::vector{along(in[0], dim, logarithm)};
  };
  c.op = [=] { return make_ref<Softmax>(dim, logarithm); };
  return c;
}

INSTANTIATE_TEST_SUITE_P(Softmax, OpCases,
                         testing::Values(over("OverTheLastDim", {4, 5}, 1, false),
                                         over("OverTheFirstDim", {5, 4}, 0, false),
                                         over("OverTheMiddleDim", {2, 5, 3}, 1, false),
                                         over("OfNoRows", {0, 5}, 1, false),
                                         over("LogarithmOverTheLastDim", {4, 5}, 1, true),
                                         over("LogarithmOverTheMiddleDim", {2, 5, 3}, 1, true)),
                         name_of_case);

TEST(Softmax, MinusInfinityWeighsNothingAndLargeNumbersDoNotOverflow) {
  const Values y = on_all({}, [](Worker& worker) {
    return whole_values(softmax(make(worker, Values{{4}, {-INFINITY, 1000, 1000, -INFINITY}}), 0));
  });
  EXPECT_EQ(y.data, (std::vector<double>{0, 0.5, 0.5, 0}));
}

}  // namespace
}  // namespace shardlab::test
