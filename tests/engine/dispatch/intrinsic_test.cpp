#include "engine/dispatch/intrinsic.h"

#include "engine/dispatch/dispatch.h"
#include "tests/support/op_case.h"

namespace shardlab::test {
namespace {

std::int64_t inner_of(const Shape& shape, int dim) {
  std::int64_t inner = 1;
  for (int d = dim + 1; d < shape.ndim(); ++d) inner *= shape[d];
  return inner;
}

OpCase sums(std::string name, const Shape& a, const Shape& b) {
  OpCase c;
  c.name = std::move(name);
  c.inputs = {{numbers(a, 1)}, {numbers(b, 2)}};
  c.call = [](std::span<const Tensor> in) { return std::vector{add(in[0], in[1])}; };
  c.reference = [](std::span<const Values> in) {
    Values y = in[0];
    for (std::int64_t i = 0; i < y.shape.count(); ++i) y[i] += in[1][i % in[1].shape.count()];
    return std::vector{y};
  };
  c.op = [] { return make_ref<Add>(); };
  c.flop = a.count();
  return c;
}

OpCase sliced(std::string name, const Shape& shape, Slice::Range range) {
  OpCase c;
  c.name = std::move(name);
  c.inputs = {{numbers(shape, 1)}};
  c.call = [=](std::span<const Tensor> in) { return std::vector{slice(in[0], range)}; };
  c.reference = [=](std::span<const Values> in) {
    Shape out = shape;
    out[range.dim] = (range.end - range.begin + range.step - 1) / range.step;
    Values y = zeros(out);
    const std::int64_t inner = inner_of(shape, range.dim);
    for (std::int64_t i = 0; i < out.count(); ++i) {
      const std::int64_t at = i / inner % out[range.dim];
      const std::int64_t outer = i / inner / out[range.dim];
      y[i] = in[0][(outer * shape[range.dim] + range.begin + at * range.step) * inner + i % inner];
    }
    return std::vector{y};
  };
  c.op = [=] { return make_ref<Slice>(range); };
  c.flop = 0;
  return c;
}

OpCase joined(std::string name, const std::vector<Shape>& shapes, int dim) {
  OpCase c;
  c.name = std::move(name);
  for (std::size_t i = 0; i < shapes.size(); ++i)
    c.inputs.push_back({numbers(shapes[i], static_cast<int>(i))});
  c.call = [=](std::span<const Tensor> in) { return std::vector{concat(in, dim)}; };
  c.reference = [=](std::span<const Values> in) {
    Shape out = shapes[0];
    out[dim] = 0;
    for (const Shape& shape : shapes) out[dim] += shape[dim];
    Values y = zeros(out);
    const std::int64_t inner = inner_of(out, dim);
    std::int64_t begin = 0;
    for (const Values& part : in) {
      for (std::int64_t i = 0; i < part.shape.count(); ++i) {
        const std::int64_t run = part.shape[dim] * inner;
        y[i / run * out[dim] * inner + begin * inner + i % run] = part[i];
      }
      begin += part.shape[dim];
    }
    return std::vector{y};
  };
  c.op = [=] { return make_ref<Concat>(dim); };
  return c;
}

OpCase repeated(std::string name, const Shape& from, const Shape& to) {
  OpCase c;
  c.name = std::move(name);
  c.inputs = {{numbers(from, 1)}};
  c.call = [=](std::span<const Tensor> in) {
    Worker& worker = in[0].worker();
    return std::vector{expand(in[0], {to, worker.dtype(), worker.layouts().replicated(to.ndim())})};
  };
  c.reference = [=](std::span<const Values> in) {
    Values y = zeros(to);
    const Strides strides = dense_strides(from);
    for (std::int64_t i = 0; i < to.count(); ++i) {
      std::int64_t rest = i;
      std::int64_t index = 0;
      for (int d = to.ndim() - 1; d >= 0; --d) {
        const int own = d - (to.ndim() - from.ndim());
        if (own >= 0 && from[own] != 1) index += rest % to[d] * strides[own];
        rest /= to[d];
      }
      y[i] = in[0][index];
    }
    return std::vector{y};
  };
  return c;
}

OpCase summed_to(std::string name, const Shape& from, const Shape& to) {
  OpCase c;
  c.name = std::move(name);
  c.inputs = {{numbers(from, 1)}};
  c.call = [=](std::span<const Tensor> in) { return std::vector{sum_to(in[0], to)}; };
  c.reference = [=](std::span<const Values> in) {
    Values y = zeros(to);
    const Strides strides = dense_strides(to);
    for (std::int64_t i = 0; i < from.count(); ++i) {
      std::int64_t rest = i;
      std::int64_t index = 0;
      for (int d = from.ndim() - 1; d >= 0; --d) {
        const int own = d - (from.ndim() - to.ndim());
        if (own >= 0 && to[own] != 1) index += rest % from[d] * strides[own];
        rest /= from[d];
      }
      y[index] += in[0][i];
    }
    return std::vector{y};
  };
  c.op = [=] { return make_ref<SumTo>(to); };
  return c;
}

INSTANTIATE_TEST_SUITE_P(Add, OpCases,
                         testing::Values(sums("OfEqualShapes", {5, 4}, {5, 4}),
                                         sums("OfAVector", {2, 5, 4}, {4}),
                                         sums("OfAScalar", {5}, {})),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Slice, OpCases,
                         testing::Values(sliced("OfRows", {6, 4}, {0, 1, 5, 1}),
                                         sliced("OfColumns", {4, 6}, {1, 2, 4, 1}),
                                         sliced("OfEverySecond", {7, 3}, {0, 1, 7, 2}),
                                         sliced("OfNothing", {5, 3}, {0, 2, 2, 1}),
                                         sliced("OfTheMiddleDim", {2, 5, 3}, {1, 0, 4, 1})),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Concat, OpCases,
                         testing::Values(joined("OfRows", {{2, 3}, {4, 3}}, 0),
                                         joined("OfColumns", {{4, 3}, {4, 1}, {4, 2}}, 1),
                                         joined("WithAnEmptyPart", {{4, 3}, {4, 0}}, 1)),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Expand, OpCases,
                         testing::Values(repeated("OfAScalar", {}, {5, 3}),
                                         repeated("OfAStretchedDim", {5, 1, 3}, {5, 4, 3}),
                                         repeated("OfNewDims", {4}, {2, 3, 4})),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(SumTo, OpCases,
                         testing::Values(summed_to("AVector", {3, 5, 4}, {4}),
                                         summed_to("AStretchedDim", {3, 5, 4}, {3, 1, 4}),
                                         summed_to("AScalar", {5, 3}, {})),
                         name_of_case);

TEST(Slice, ItsGradientLiesLikeTheOperandSoThatNoRankHoldsMore) {
  World world;
  world.mesh = "domain=3";
  run_on(world, [](Worker& worker, int) {
    const std::vector<Tensor> x{make(worker, numbers({9, 2}), cut(0, {2, 3, 4}), true)};
    const std::vector<Tensor> y{slice(x[0], {0, 1, 8, 1})};
    const std::vector<Tensor> seed{make(worker, numbers({7, 2}))};
    const Tensor g = gradients(y, x, seed)[0];
    EXPECT_EQ(g.layout(), x[0].layout());
  });
}

TEST(Slice, AStrideSharesMemoryAndARangeOutsideIsNamed) {
  run_on({}, [](Worker& worker, int) {
    const Tensor x = make(worker, numbers({7}));
    EXPECT_EQ(slice(x, {0, 1, 7, 2}).state().buffer, x.state().buffer);
  });
  EXPECT_EQ(error_of({},
                     [](Worker& worker) {
                       (void)slice(make(worker, numbers({7})), {0, 3, 8, 1});
                     }),
            "invalid: rank 0: slice: 3 .. 8 of dim 0, which is 7");
}

TEST(Full, FillsWhereTheLayoutSays) {
  World world;
  world.mesh = "domain=3";
  run_on(world, [](Worker& worker, int) {
    const Tensor x =
        full(worker, {{5}, Dtype::float64, layout_of(worker, 1, cut(0, {4, 0, 1}))}, 2.5);
    EXPECT_EQ(whole_values(x).data, std::vector<double>(5, 2.5));
  });
}

TEST(Concat, PartsThatDoNotFitAreNamed) {
  EXPECT_EQ(error_of({},
                     [](Worker& worker) {
                       const std::vector<Tensor> parts{make(worker, numbers({2, 3})),
                                                       make(worker, numbers({2, 4}))};
                       (void)concat(parts, 0);
                     }),
            "invalid: rank 0: concat: dim 1 is 4 in part 1, 3 in part 0");
}

}  // namespace
}  // namespace shardlab::test
