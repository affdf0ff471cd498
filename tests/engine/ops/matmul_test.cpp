#include "engine/ops/matmul.h"

#include "tests/support/op_case.h"

namespace shardlab::test {
namespace {

/// Batches of a and b by number, so that broadcasting is spelled out by the case.
std::vector<Values> product(const Values& a, const Values& b, const Shape& shape,
                            const std::function<std::int64_t(std::int64_t)>& batch_of_a,
                            const std::function<std::int64_t(std::int64_t)>& batch_of_b) {
  const std::int64_t m = shape[shape.ndim() - 2];
  const std::int64_t n = shape[shape.ndim() - 1];
  const std::int64_t k = a.shape[a.shape.ndim() - 1];
  Values y = zeros(shape);
  for (std::int64_t batch = 0; batch < shape.count() / (m * n); ++batch)
    for (std::int64_t r = 0; r < m; ++r)
      for (std::int64_t c = 0; c < n; ++c)
        for (std::int64_t i = 0; i < k; ++i)
          y[(batch * m + r) * n + c] +=
              a[(batch_of_a(batch) * m + r) * k + i] * b[(batch_of_b(batch) * k + i) * n + c];
  return {y};
}

OpCase matrices(std::string name, const Shape& a, const Shape& b, const Shape& y,
                std::function<std::int64_t(std::int64_t)> of_a,
                std::function<std::int64_t(std::int64_t)> of_b) {
  OpCase c;
  c.name = std::move(name);
  c.inputs = {{numbers(a, 1)}, {numbers(b, 2)}};
  c.call = [](std::span<const Tensor> in) { return std::vector{matmul(in[0], in[1])}; };
  c.reference = [=](std::span<const Values> in) { return product(in[0], in[1], y, of_a, of_b); };
  c.op = [] { return make_ref<Matmul>(); };
  c.flop = 2 * y.count() * a[a.ndim() - 1];
  return c;
}

std::int64_t own(std::int64_t batch) { return batch; }
std::int64_t only(std::int64_t) { return 0; }

INSTANTIATE_TEST_SUITE_P(
    Matmul, OpCases,
    testing::Values(matrices("OfMatrices", {5, 4}, {4, 3}, {5, 3}, only, only),
                    matrices("OfBatches", {2, 3, 4}, {2, 4, 5}, {2, 3, 5}, own, own),
                    matrices("OfOneMatrixForAll", {4, 3, 4}, {4, 5}, {4, 3, 5}, own, only),
                    matrices("OfStretchedBatches", {1, 3, 4}, {3, 4, 2}, {3, 3, 2}, only, own),
                    matrices("OfTwoBatchDims", {2, 3, 2, 4}, {3, 4, 3}, {2, 3, 2, 3}, own,
                             [](std::int64_t b) { return b % 3; }),
                    matrices("OfNoInnerDim", {3, 0}, {0, 4}, {3, 4}, only, only)),
    name_of_case);

TEST(Matmul, ASizeThatDoesNotFitIsNamed) {
  EXPECT_EQ(error_of({},
                     [](Worker& worker) {
                       (void)matmul(make(worker, numbers({4, 6})), make(worker, numbers({5, 2})));
                     }),
            "invalid: rank 0: matmul: k is 5 in operand 1, but 6 before");
}

}  // namespace
}  // namespace shardlab::test
