#include "engine/ops/reshape.h"

#include "engine/dispatch/intrinsic.h"
#include "engine/ops/permute.h"
#include "tests/support/op_case.h"

namespace shardlab::test {
namespace {

OpCase reshaped(std::string name, const Shape& from, const Shape& to) {
  OpCase c;
  c.name = std::move(name);
  c.inputs = {{numbers(from, 5)}};
  c.call = [to](std::span<const Tensor> in) { return std::vector{reshape(in[0], to)}; };
  c.reference = [to](std::span<const Values> in) { return std::vector{Values{to, in[0].data}}; };
  c.op = [to] { return make_ref<Reshape>(to); };
  c.flop = 0;
  return c;
}

INSTANTIATE_TEST_SUITE_P(Reshape, OpCases,
                         testing::Values(reshaped("MergesTwoDims", {3, 4, 5}, {12, 5}),
                                         reshaped("MergesTheInnerDims", {3, 4, 5}, {3, 20}),
                                         reshaped("SplitsTheLastDim", {3, 8}, {3, 2, 4}),
                                         reshaped("SplitsTheFirstDim", {12, 3}, {3, 4, 3}),
                                         reshaped("Regroups", {4, 6}, {6, 4}),
                                         reshaped("Flattens", {2, 3, 4}, {24}),
                                         reshaped("AddsDimsOfOne", {4, 5}, {1, 4, 1, 5, 1}),
                                         reshaped("DropsDimsOfOne", {1, 4, 1, 5, 1}, {4, 5}),
                                         reshaped("OfNothing", {0, 4}, {2, 0, 2}),
                                         reshaped("ToAScalar", {1, 1}, {}),
                                         reshaped("OfAScalar", {}, {1, 1})),
                         name_of_case);

OpCase of_transposed() {
  OpCase c = reshaped("OfATransposedMatrix", {3, 4}, {12});
  c.call = [](std::span<const Tensor> in) {
    return std::vector{reshape(transpose(in[0], 0, 1), Shape{12})};
  };
  c.reference = [](std::span<const Values> in) {
    Values y = zeros({12});
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t j = 0; j < 4; ++j) y[j * 3 + i] = in[0][i * 4 + j];
    return std::vector{y};
  };
  c.op = nullptr;
  return c;
}

/// [2, 1, 3] with gaps behind each run of three: the dim of extent 1 must not hide them.
OpCase of_gaps() {
  OpCase c = reshaped("OfRunsWithGaps", {2, 4}, {6});
  c.call = [](std::span<const Tensor> in) {
    const Tensor runs = slice(reshape(in[0], Shape{2, 1, 4}), {2, 0, 3, 1});
    return std::vector{reshape(runs, Shape{6})};
  };
  c.reference = [](std::span<const Values> in) {
    Values y = zeros({6});
    for (std::int64_t i = 0; i < 6; ++i) y[i] = in[0][i / 3 * 4 + i % 3];
    return std::vector{y};
  };
  c.op = nullptr;
  return c;
}

INSTANTIATE_TEST_SUITE_P(ReshapeOfStrided, OpCases, testing::Values(of_transposed(), of_gaps()),
                         name_of_case);

struct Moved {
  Values values;
  std::string layout;
  std::int64_t collectives = 0;
};

Moved reshape_cut(const std::string& mesh, const Shape& from, const Placed& placed,
                  const Shape& to) {
  World world;
  world.mesh = mesh;
  return on_ranks<Moved>(world, [&](Worker& worker) {
    const Tensor y = reshape(make(worker, counting(from), placed), to);
    Moved moved;
    moved.layout = to_string(*y.layout(), y.shape());
    moved.collectives = worker.trace().totals().collectives;
    moved.values = whole_values(y);
    return moved;
  })[0];
}

TEST(Reshape, A17_SplittingAnotherDimKeepsUnevenExtentsAndMovesNothing) {
  const Moved moved = reshape_cut("domain=3", {1, 10, 8}, cut(1, {4, 3, 3}), {1, 10, 2, 4});
  EXPECT_EQ(moved.layout, "[1, 10(domain: 4,3,3), 2, 4]");
  EXPECT_EQ(moved.collectives, 0);
  EXPECT_TRUE(same(moved.values, counting({1, 10, 2, 4})));
}

TEST(Reshape, A14_FlatteningUnevenRowsKeepsThemAsRuns) {
  const Moved moved = reshape_cut("domain=4", {6, 256}, cut(0, {2, 2, 2, 0}), {1536});
  EXPECT_EQ(moved.layout, "[1536(domain: 512,512,512,0)]");
  EXPECT_EQ(moved.collectives, 0);
  EXPECT_TRUE(same(moved.values, counting({1536})));
}

TEST(Reshape, PeersFact6_MergingWithTheCutInsideEqualsDense) {
  for (const std::vector<std::int64_t>& sizes : {std::vector<std::int64_t>{4, 4}, {3, 5}, {0, 8}}) {
    const Moved moved = reshape_cut("domain=2", {2, 8, 3}, cut(1, sizes), {16, 3});
    EXPECT_TRUE(same(moved.values, counting({16, 3})));
  }
}

// Where one rank has a single row, the strided memory of a permuted image fits some groups of dims
// and not others; what was worked out before it did not fit must not stay.
TEST(Reshape, MergingPermutedPatchesOfUnevenRowsEqualsOneRank) {
  const auto patches = [](const Placed& placed) {
    return [placed](Worker& worker) {
      const Tensor image = make(worker, numbers({2, 3, 12, 8}), placed);
      const Tensor cut_up = reshape(image, Shape{2, 3, 6, 2, 4, 2});
      return whole_values(reshape(permute(cut_up, {0, 2, 4, 1, 3, 5}), Shape{2, 24, 12}));
    };
  };
  World three;
  three.mesh = "domain=3";
  World four;
  four.mesh = "domain=4";
  const Values dense = on_all({}, patches({}));
  EXPECT_TRUE(same(on_all(four, patches(cut(2, {4, 4, 2, 2}))), dense));
  EXPECT_TRUE(same(on_all(three, patches(cut(2, {2, 0, 10}))), dense));
}

TEST(Reshape, AnOpenExtentIsWorkedOut) {
  run_on({}, [](Worker& worker, int) {
    const std::vector<std::int64_t> extents{4, -1};
    EXPECT_EQ(reshape(make(worker, numbers({2, 6})), extents).shape(), (Shape{4, 3}));
  });
}

TEST(Reshape, AnotherNumberOfElementsIsRefusedWithBoth) {
  EXPECT_EQ(error_of({},
                     [](Worker& worker) {
                       (void)reshape(make(worker, numbers({2, 6})), Shape{5, 2});
                     }),
            "invalid: rank 0: reshape: [2, 6] has 12 elements, [5, 2] has 10");
}

}  // namespace
}  // namespace shardlab::test
