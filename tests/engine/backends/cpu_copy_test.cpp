#include <gtest/gtest.h>

#include <vector>

#include "engine/dispatch/intrinsic.h"
#include "tests/engine/backends/cpu_kernels.h"

namespace shardlab::cpu {
namespace {

constexpr std::array<Dtype, 5> all_dtypes{Dtype::float32, Dtype::float64, Dtype::int64,
                                          Dtype::bfloat16, Dtype::float16};

/// 0, 1, 2, ... so that a misplaced element shows; each fits two bytes.
Numbers counted(const Shape& shape) {
  Numbers numbers(shape);
  for (std::int64_t i = 0; i < shape.count(); ++i) numbers[i] = static_cast<double>(i % 60000 + 1);
  return numbers;
}

std::vector<int> reversed(int ndim) {
  std::vector<int> order;
  for (int d = ndim - 1; d >= 0; --d) order.push_back(d);
  return order;
}

const std::vector<Shape> shapes{{},        {1},          {17},           {5, 7},
                                {0, 3},    {3, 0, 2},    {64, 64},       {33, 129},
                                {2, 3, 4}, {5, 1, 9, 2}, {2, 3, 2, 4, 3}};

TEST(CpuCopy, AnyStridesOnTheInputSideKeepEveryElement) {
  const Copy op;
  for (const Dtype dtype : all_dtypes)
    for (const Shape& shape : shapes) {
      const Numbers x = counted(shape);
      const int ndim = shape.ndim();
      for (const Lie& lie : {Lie{}, Lie{{}, 1, 0}, Lie{{}, 0, 3}, Lie{reversed(ndim), 0, 0},
                             Lie{reversed(ndim), 2, 5}}) {
        Operand operand(x, dtype, lie);
        EXPECT_EQ(run_kernel(op, {&operand})[0].values, x.values)
            << to_string(shape) << " " << name_of(dtype);
      }
    }
}

TEST(CpuCopy, AnyStridesOnBothSidesKeepEveryElementAndTheGaps) {
  const Copy op;
  CpuBackend backend;
  for (const Dtype dtype : all_dtypes)
    for (const Shape& shape : shapes) {
      const Numbers x = counted(shape);
      for (const Lie& from : {Lie{}, Lie{reversed(shape.ndim()), 0, 1}})
        for (const Lie& to : {Lie{{}, 0, 2}, Lie{{}, 1, 0}, Lie{reversed(shape.ndim()), 0, 3}}) {
          Operand source(x, dtype, from);
          Operand target(Numbers(shape, 7), dtype, to);
          const View* in = &source.view();
          const View* out = &target.view();
          Call call;
          call.op = &op;
          call.inputs = {&in, 1};
          call.outputs = {&out, 1};
          backend.run(call, Lane{});
          EXPECT_EQ(target.numbers().values, x.values) << to_string(shape) << name_of(dtype);
          EXPECT_TRUE(target.gaps_untouched()) << to_string(shape) << name_of(dtype);
        }
    }
}

TEST(CpuCopy, EightDimsOfPatchesComeOutInOrder) {
  // [b, c, h/p, p, w/p, p] with patches innermost, and a volume of eight dims.
  const Copy op;
  for (const Shape& shape : {Shape{2, 3, 4, 5, 6, 7}, Shape{2, 2, 3, 2, 2, 3, 2, 2}}) {
    const Numbers x = counted(shape);
    std::vector<int> order;
    for (int d = 0; d < shape.ndim(); d += 2) order.push_back(d);
    for (int d = 1; d < shape.ndim(); d += 2) order.push_back(d);
    Operand operand(x, Dtype::float32, {order, 0, 0});
    EXPECT_EQ(run_kernel(op, {&operand})[0].values, x.values);
  }
}

TEST(CpuFill, EveryElementGetsTheValueInItsDtype) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float64, Dtype::int64})
    for (const Shape& shape : shapes) {
      const Fill op(-3, {shape, dtype, nullptr});
      EXPECT_EQ(run_kernel(op, {})[0].values, Numbers(shape, -3).values);
    }
  const Fill third(1.0 / 3, {{2}, Dtype::float32, nullptr});
  EXPECT_EQ(run_kernel(third, {})[0][0], static_cast<double>(1.0F / 3));
}

TEST(CpuKeepFirst, TheFirstRankKeepsAndOthersHoldZeros) {
  const Numbers x = counted({3, 5});
  for (const Dtype dtype : all_dtypes) {
    Operand operand(x, dtype, {{1, 0}, 0, 2});
    EXPECT_EQ(run_kernel(KeepFirst(true), {&operand})[0].values, x.values);
    EXPECT_EQ(run_kernel(KeepFirst(false), {&operand})[0].values, Numbers({3, 5}).values);
  }
}

TEST(CpuExpand, StretchedAndNewLeadingDimsRepeat) {
  const Shape whole{2, 3, 4, 5};
  for (const Shape& narrow :
       {Shape{}, Shape{1}, Shape{5}, Shape{4, 1}, Shape{3, 1, 5}, Shape{2, 1, 4, 1}, whole})
    for (const int gap : {0, 2}) {
      const Numbers x = counted(narrow);
      Operand operand(x, Dtype::float32, {{}, gap, 0});
      Numbers expected(whole);
      const int extra = whole.ndim() - narrow.ndim();
      for_each_index(whole, [&](const auto& index, std::int64_t i) {
        std::int64_t from = 0;
        for (int d = 0; d < narrow.ndim(); ++d)
          from = from * narrow[d] + (narrow[d] == 1 ? 0 : index[d + extra]);
        expected[i] = x[from];
      });
      const Expand op({whole, Dtype::float32, nullptr});
      EXPECT_EQ(run_kernel(op, {&operand})[0].values, expected.values) << to_string(narrow);
    }
}

TEST(CpuExpand, NoRowsAreFilledFromOne) {
  Operand operand(Numbers({1, 4}, 2), Dtype::float32);
  const Expand op({{0, 4}, Dtype::float32, nullptr});
  EXPECT_EQ(run_kernel(op, {&operand})[0].values.size(), 0U);
}

/// Zeros with `part` at a range of `dim`.
Numbers embedded(const Numbers& part, const Shape& whole, const Slice::Range& range) {
  Numbers result(whole);
  const Strides strides = dense_strides(whole);
  for_each_index(part.shape, [&](auto index, std::int64_t i) {
    index[range.dim] = range.begin + index[range.dim] * range.step;
    std::int64_t at = 0;
    for (int d = 0; d < whole.ndim(); ++d) at += index[d] * strides[d];
    result[at] = part[i];
  });
  return result;
}

TEST(CpuEmbed, TheRangeHoldsTheInputAndTheRestZeros) {
  const Shape whole{4, 9, 3};
  for (const Slice::Range& range : {Slice::Range{1, 2, 6, 1},
                                    {1, 0, 9, 1},
                                    {1, 9, 9, 1},
                                    {1, 0, 9, 2},
                                    {1, 1, 9, 3},
                                    {0, 1, 2, 1},
                                    {2, 1, 3, 1},
                                    {2, 0, 3, 2}}) {
    Shape shape = whole;
    shape[range.dim] = (range.end - range.begin + range.step - 1) / range.step;
    const Numbers part = counted(shape);
    Operand operand(part, Dtype::float64, {{2, 1, 0}, 0, 1});
    const Embed op(range, {whole, Dtype::float64, nullptr});
    EXPECT_EQ(run_kernel(op, {&operand})[0].values, embedded(part, whole, range).values)
        << range.dim << " " << range.begin << " " << range.end << " " << range.step;
  }
}

TEST(CpuEmbed, EachRankOfAnUnevenSplitEmbedsItsOverlap) {
  const Shape whole{3, 11};
  const Slice::Range range{1, 3, 8, 1};
  const Numbers part = counted({3, 5});
  const Numbers expected = embedded(part, whole, range);
  const std::vector<std::int64_t> offsets{0, 2, 2, 4, 10, 11};
  for (std::size_t rank = 0; rank + 1 < offsets.size(); ++rank) {
    const std::int64_t begin = offsets[rank];
    const std::int64_t end = offsets[rank + 1];
    const std::int64_t from = std::clamp(begin, range.begin, range.end);
    const std::int64_t to = std::clamp(end, range.begin, range.end);
    Numbers local({3, to - from});
    for_each_index(local.shape, [&](const auto& index, std::int64_t i) {
      local[i] = part[index[0] * 5 + from - range.begin + index[1]];
    });
    Operand operand(local, Dtype::float32);
    const Embed op(range, {whole, Dtype::float32, nullptr});
    const Numbers result = run_kernel(op, {&operand}, {{{3, end - begin}, Dtype::float32, nullptr}},
                                      {{0, begin}, whole})[0];
    for_each_index(result.shape, [&](const auto& index, std::int64_t i) {
      EXPECT_EQ(result[i], expected[index[0] * 11 + begin + index[1]]) << rank << " " << i;
    });
  }
}

TEST(CpuConcat, PartsOfAnySizeAndStridesFollowEachOther) {
  for (const Dtype dtype : all_dtypes)
    for (int dim = 0; dim < 3; ++dim) {
      std::vector<Operand> operands;
      std::vector<Operand*> inputs;
      Shape shape{2, 3, 4};
      std::vector<Numbers> parts;
      for (const std::int64_t extent : {3, 0, 1, 5}) {
        shape[dim] = extent;
        Numbers part = counted(shape);
        for (double& value : part.values) value += 100.0 * static_cast<double>(parts.size());
        operands.emplace_back(part, dtype,
                              parts.size() % 2 == 0 ? Lie{{1, 2, 0}, 0, 1} : Lie{{}, 1, 0});
        parts.push_back(part);
      }
      inputs.reserve(operands.size());
      for (Operand& operand : operands) inputs.push_back(&operand);
      const Numbers result = run_kernel(Concat(dim), inputs)[0];
      for_each_index(result.shape, [&](auto index, std::int64_t i) {
        std::size_t part = 0;
        while (index[dim] >= parts[part].shape[dim]) index[dim] -= parts[part++].shape[dim];
        const Strides strides = dense_strides(parts[part].shape);
        std::int64_t at = 0;
        for (int d = 0; d < 3; ++d) at += index[d] * strides[d];
        EXPECT_EQ(result[i], parts[part][at]);
      });
    }
}

}  // namespace
}  // namespace shardlab::cpu
