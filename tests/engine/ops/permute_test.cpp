#include "engine/ops/permute.h"

#include "tests/support/op_case.h"

namespace shardlab::test {
namespace {

Values permuted(const Values& x, const std::vector<int>& order) {
  Shape shape = x.shape;
  for (int d = 0; d < shape.ndim(); ++d) shape[d] = x.shape[order[d]];
  const Strides strides = dense_strides(x.shape);
  Values y = zeros(shape);
  for (std::int64_t i = 0; i < shape.count(); ++i) {
    std::int64_t rest = i;
    std::int64_t from = 0;
    for (int d = shape.ndim() - 1; d >= 0; --d) {
      from += rest % shape[d] * strides[order[d]];
      rest /= shape[d];
    }
    y[i] = x[from];
  }
  return y;
}

OpCase ordered(std::string name, const Shape& shape, std::vector<int> order) {
  OpCase c;
  c.name = std::move(name);
  c.inputs = {{numbers(shape, 5)}};
  c.call = [order](std::span<const Tensor> in) { return std::vector{permute(in[0], order)}; };
  c.reference = [order](std::span<const Values> in) { return std::vector{permuted(in[0], order)}; };
  c.op = [order] { return make_ref<Permute>(order); };
  c.flop = 0;
  return c;
}

INSTANTIATE_TEST_SUITE_P(Permute, OpCases,
                         testing::Values(ordered("OfAMatrix", {4, 5}, {1, 0}),
                                         ordered("OfFourDims", {2, 3, 4, 5}, {0, 2, 1, 3}),
                                         ordered("Rotates", {3, 4, 5}, {2, 0, 1}),
                                         ordered("OfNothing", {0, 4}, {1, 0})),
                         name_of_case);

TEST(Permute, SharesMemory) {
  run_on({}, [](Worker& worker, int) {
    const Tensor x = make(worker, numbers({4, 5}));
    const std::int64_t live = worker.backend().ledger().live();
    const Tensor y = transpose(x, 0, -1);
    EXPECT_EQ(worker.backend().ledger().live(), live);
    EXPECT_EQ(y.state().buffer, x.state().buffer);
  });
}

TEST(Permute, A11_TheShortRankHasStridesOfItsOwn) {
  World world;
  world.mesh = "domain=2";
  run_on(world, [](Worker& worker, int rank) {
    const Tensor w = make(worker, counting({3, 9}), cut(1, {5, 4}));
    EXPECT_EQ(w.state().view.shape, (Shape{3, rank == 0 ? 5 : 4}));
    EXPECT_EQ(w.state().view.strides[0], rank == 0 ? 5 : 4);
    EXPECT_EQ(w.state().view.strides[1], 1);
    EXPECT_TRUE(same(whole_values(transpose(w, 0, 1)), permuted(counting({3, 9}), {1, 0})));
  });
}

TEST(Permute, ADimNamedTwiceIsRefused) {
  EXPECT_EQ(error_of({},
                     [](Worker& worker) {
                       (void)permute(make(worker, numbers({2, 2})), {1, 1});
                     }),
            "invalid: rank 0: permute: dim 1 is named twice");
}

}  // namespace
}  // namespace shardlab::test
