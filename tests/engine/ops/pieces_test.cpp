#include "engine/ops/pieces.h"

#include "tests/support/op_case.h"

namespace shardlab::test {
namespace {

std::vector<Values> runs_of(const Values& x, int dim, const std::vector<std::int64_t>& sizes) {
  std::int64_t inner = 1;
  for (int d = dim + 1; d < x.shape.ndim(); ++d) inner *= x.shape[d];
  std::vector<Values> runs;
  std::int64_t begin = 0;
  for (const std::int64_t size : sizes) {
    Shape shape = x.shape;
    shape[dim] = size;
    Values run = zeros(shape);
    for (std::int64_t i = 0; i < shape.count(); ++i) {
      const std::int64_t outer = i / (size * inner);
      const std::int64_t rest = i % (size * inner);
      run[i] = x[(outer * x.shape[dim] + begin) * inner + rest];
    }
    runs.push_back(run);
    begin += size;
  }
  return runs;
}

OpCase cut_up(std::string name, const Shape& shape, int dim, std::vector<std::int64_t> sizes) {
  OpCase c;
  c.name = std::move(name);
  c.inputs = {{numbers(shape, 5)}};
  c.call = [=](std::span<const Tensor> in) { return pieces(in[0], dim, sizes); };
  c.reference = [=](std::span<const Values> in) { return runs_of(in[0], dim, sizes); };
  c.op = [=] { return make_ref<Pieces>(dim, sizes); };
  return c;
}

INSTANTIATE_TEST_SUITE_P(Pieces, OpCases,
                         testing::Values(cut_up("OfTheLastDim", {4, 9}, 1, {3, 3, 3}),
                                         cut_up("OfTheFirstDim", {6, 2}, 0, {1, 0, 5}),
                                         cut_up("OfTheMiddleDim", {2, 5, 3}, 1, {2, 3})),
                         name_of_case);

TEST(Pieces, APieceThatNobodyReadsHasAGradientOfZero) {
  const Values g = on_all({}, [](Worker& worker) {
    const std::vector<Tensor> x{make(worker, numbers({5}), {}, true)};
    const std::vector<Tensor> y{pieces(x[0], 0, {2, 3})[1]};
    const std::vector<Tensor> seed{make(worker, Values{{3}, {1, 2, 3}})};
    return whole_values(gradients(y, x, seed)[0]);
  });
  EXPECT_EQ(g.data, (std::vector<double>{0, 0, 1, 2, 3}));
}

TEST(Pieces, SizesThatDoNotAddUpAreNamed) {
  EXPECT_EQ(error_of({},
                     [](Worker& worker) {
                       (void)pieces(make(worker, numbers({5})), 0, {2, 2});
                     }),
            "invalid: rank 0: pieces: 2 + 2 make 4, dim 0 is 5");
}

}  // namespace
}  // namespace shardlab::test
