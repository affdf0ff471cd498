#include "engine/backends/cpu/matrix_product.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "engine/backends/cpu/isa.h"
#include "engine/core/error.h"
#include "tests/engine/backends/products.h"

namespace shardlab::cpu {
namespace {

struct Sizes {
  std::int64_t m, n, k;
};

/// Multiplies once in the given form and compares with float64.
template <typename T>
void expect_right(MatrixProduct& product, Sizes s, Order a_order, Order b_order,
                  std::int64_t out_gap, bool with_bias, bool accumulate) {
  SCOPED_TRACE(testing::Message() << s.m << "x" << s.k << " by " << s.k << "x" << s.n << " a "
                                  << a_order.transposed << "/" << a_order.gap << "/"
                                  << a_order.spacing << " b " << b_order.transposed << "/"
                                  << b_order.gap << "/" << b_order.spacing << " out gap " << out_gap
                                  << " bias " << with_bias << " accumulate " << accumulate << " "
                                  << isa_level_name());
  Stored<T> a(s.m, s.k, a_order);
  Stored<T> b(s.k, s.n, b_order);
  Stored<T> bias(1, s.n);
  Stored<T> out(s.m, s.n, {false, out_gap, 1});
  a.fill(1);
  b.fill(2);
  bias.fill(3);
  if (accumulate) out.fill(4);
  const T* const row = with_bias ? bias.read().data : nullptr;
  const Matrix<T> before = out.view();
  const auto expected = expected_product(a.read(), b.read(), row, accumulate ? &before : nullptr);
  product(a.read(), b.read(), row, accumulate, out.view());
  EXPECT_LE(error_of(out.view(), expected, s.k), rounding<T>);
  EXPECT_EQ(s.n == 0 ? 0 : writes_between_rows(out), 0);
}

template <typename T>
class MatrixProductOf : public testing::Test {
 protected:
  ~MatrixProductOf() override { restrict_isa_for_test(""); }
  CountedMemory memory_;
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(MatrixProductOf, Types);

TYPED_TEST(MatrixProductOf, AnySizeOrderGapBiasAndSumIsRightOnEveryLevel) {
  const std::vector<Sizes> all{{1, 1, 1},    {1, 17, 5},   {9, 1, 33},   {2, 3, 4},   {8, 8, 8},
                               {7, 16, 24},  {6, 48, 1},   {15, 31, 47}, {1, 70, 64}, {33, 25, 19},
                               {64, 1, 100}, {50, 49, 51}, {12, 97, 36}};
  for (const std::string& level : isa_levels()) {
    restrict_isa_for_test(level);
    MatrixProduct product(this->memory_);
    for (const Sizes& s : all)
      for (int form = 0; form < 64; ++form)
        expect_right<TypeParam>(product, s, {(form & 1) != 0, (form & 4) != 0 ? 3 : 0},
                                {(form & 2) != 0, (form & 8) != 0 ? 5 : 0},
                                (form & 12) == 12 ? 7 : 0, (form & 16) != 0, (form & 32) != 0);
  }
}

TYPED_TEST(MatrixProductOf, SizesBeyondEveryBlockAreRightOnEveryLevel) {
  for (const std::string& level : isa_levels()) {
    restrict_isa_for_test(level);
    MatrixProduct product(this->memory_);
    for (const Sizes& s : std::vector<Sizes>{{3, 4200, 2}, {261, 30, 7}, {20, 51, 517}})
      for (int form = 0; form < 4; ++form)
        expect_right<TypeParam>(product, s, {(form & 1) != 0}, {(form & 2) != 0}, 0, false, false);
  }
}

TYPED_TEST(MatrixProductOf, OperandsWithoutUnitStrideAreRight) {
  MatrixProduct product(this->memory_);
  for (const bool accumulate : {false, true}) {
    expect_right<TypeParam>(product, {40, 50, 60}, {false, 1, 2}, {true, 0, 3}, 2, true,
                            accumulate);
    expect_right<TypeParam>(product, {40, 50, 60}, {true, 1, 2}, {false, 0, 1}, 0, false,
                            accumulate);
    expect_right<TypeParam>(product, {1, 500, 60}, {false, 0, 2}, {true, 0, 1}, 0, false,
                            accumulate);
    expect_right<TypeParam>(product, {500, 1, 60}, {false, 0, 1}, {false, 0, 2}, 0, true,
                            accumulate);
  }
}

TYPED_TEST(MatrixProductOf, ARowReadForEveryRowIsRight) {
  using T = TypeParam;
  MatrixProduct product(this->memory_);
  Stored<T> one(1, 40);
  Stored<T> b(40, 30);
  Stored<T> out(20, 30);
  one.fill(1);
  b.fill(2);
  Matrix<const T> a = one.read();
  a.rows = 20;
  a.row_stride = 0;
  product(a, b.read(), nullptr, false, out.view());
  EXPECT_LE(error_of(out.view(), expected_product<T>(a, b.read(), nullptr, nullptr), 40),
            rounding<T>);
}

TYPED_TEST(MatrixProductOf, ASumOverNothingIsZeroOrBiasOnTopOfWhatWasThere) {
  MatrixProduct product(this->memory_);
  for (const bool bias : {false, true})
    for (const bool accumulate : {false, true})
      for (const Sizes& s :
           std::vector<Sizes>{{3, 5, 0}, {70, 80, 0}, {0, 5, 3}, {5, 0, 3}, {0, 0, 0}})
        expect_right<TypeParam>(product, s, {}, {}, 2, bias, accumulate);
}

TYPED_TEST(MatrixProductOf, RepeatedCallsAreBitwiseEqualAndTakeNoMemory) {
  using T = TypeParam;
  MatrixProduct product(this->memory_);
  Stored<T> a(130, 300);
  Stored<T> b(300, 3072);
  Stored<T> first(130, 3072);
  Stored<T> again(130, 3072);
  a.fill(1);
  b.fill(2);
  product(a.read(), b.read(), nullptr, false, first.view());
  const int allocations = this->memory_.allocations;
  for (int i = 0; i < 3; ++i) {
    again.fill(9);
    product(a.read(), b.read(), nullptr, false, again.view());
    EXPECT_TRUE(same_bits(first, again));
  }
  EXPECT_EQ(this->memory_.allocations, allocations);
}

TYPED_TEST(MatrixProductOf, AllLibraryMemoryIsGivenBack) {
  {
    MatrixProduct product(this->memory_);
    expect_right<TypeParam>(product, {300, 70, 90}, {true}, {true}, 0, true, true);
    expect_right<TypeParam>(product, {300, 3072, 9}, {}, {}, 0, true, true);
    EXPECT_GT(this->memory_.live, 0);
  }
  EXPECT_EQ(this->memory_.live, 0);
}

TYPED_TEST(MatrixProductOf, BatchesAreRightStackedApartAndShared) {
  using T = TypeParam;
  MatrixProduct product(this->memory_);
  const std::int64_t count = 3;
  for (const auto& [m, n, k] :
       std::vector<Sizes>{{4, 6, 5}, {40, 50, 30}, {1, 50, 300}, {40, 50, 0}})
    for (int form = 0; form < 32; ++form) {
      SCOPED_TRACE(testing::Message() << m << " " << n << " " << k << " form " << form);
      const bool shared_a = (form & 1) != 0;
      const bool shared_b = (form & 2) != 0;
      const std::int64_t apart = (form & 4) != 0 ? 11 : 0;
      const bool with_bias = (form & 8) != 0;
      const bool accumulate = (form & 16) != 0;
      Stored<T> a(count, m * k + apart);
      Stored<T> b(count, k * n + apart);
      Stored<T> out(count, m * n + apart);
      Stored<T> bias(1, n);
      a.fill(1);
      b.fill(2);
      bias.fill(3);
      out.fill(4);
      const T* const row = with_bias ? bias.read().data : nullptr;
      const auto at = [](const auto& stored, std::int64_t i, std::int64_t rows, std::int64_t cols) {
        return Matrix<const T>{stored.read().data + i * stored.read().row_stride, rows, cols, cols};
      };
      std::vector<std::vector<double>> expected;
      for (std::int64_t i = 0; i < count; ++i) {
        const Matrix<T> before{&out.at(i, 0), m, n, n};
        expected.push_back(expected_product<T>(at(a, shared_a ? 0 : i, m, k),
                                               at(b, shared_b ? 0 : i, k, n), row,
                                               accumulate ? &before : nullptr));
      }
      product.batched(count, {at(a, 0, m, k), shared_a ? 0 : m * k + apart},
                      {at(b, 0, k, n), shared_b ? 0 : k * n + apart}, row, accumulate,
                      {{&out.at(0, 0), m, n, n}, m * n + apart});
      for (std::int64_t i = 0; i < count; ++i)
        EXPECT_LE(error_of<T>({&out.at(i, 0), m, n, n}, expected[static_cast<std::size_t>(i)], k),
                  rounding<T>);
    }
}

TYPED_TEST(MatrixProductOf, AnEmptyBatchDoesNothing) {
  using T = TypeParam;
  MatrixProduct product(this->memory_);
  product.batched(0, {{nullptr, 2, 2, 2}, 4}, {{nullptr, 2, 2, 2}, 4}, nullptr, false,
                  {{static_cast<T*>(nullptr), 2, 2, 2}, 4});
}

TYPED_TEST(MatrixProductOf, SizesThatDoNotFitAreRefused) {
  using T = TypeParam;
  MatrixProduct product(this->memory_);
  std::array<T, 16> data{};
  const auto fault = [&](Matrix<T> out) -> std::string {
    try {
      product({data.data(), 2, 3, 3}, {data.data(), 3, 4, 4}, nullptr, false, out);
    } catch (const Error& error) {
      return std::string(name_of(error.fault())) + ": " + error.what();
    }
    return "none";
  };
  EXPECT_EQ(fault({data.data(), 2, 4, 4}), "none");
  EXPECT_NE(fault({data.data(), 2, 5, 5}).find("2x3 by 3x4 into 2x5"), std::string::npos);
  EXPECT_NE(fault({data.data(), 2, 4, 3}).find("not contiguous: strides 3 and 1"),
            std::string::npos);
  EXPECT_NE(fault({data.data(), 2, 4, 8, 2}).find("not contiguous: strides 8 and 2"),
            std::string::npos);
}

TEST(MatrixProductOfFloat64, PartsAreBitwiseEqualToTheWhole) {
  CountedMemory memory;
  for (const std::string& level : isa_levels()) {
    restrict_isa_for_test(level);
    MatrixProduct product(memory);
    Stored<double> a(150, 600);
    Stored<double> b(600, 130);
    Stored<double> whole(150, 130);
    Stored<double> part(37, 41);
    a.fill(1);
    b.fill(2);
    product(a.read(), b.read(), nullptr, false, whole.view());
    Matrix<const double> rows = a.read();
    Matrix<const double> cols = b.read();
    rows.data += 101 * rows.row_stride;
    rows.rows = 37;
    cols.data += 67;
    cols.cols = 41;
    product(rows, cols, nullptr, false, part.view());
    int different = 0;
    for (std::int64_t i = 0; i < 37; ++i)
      for (std::int64_t j = 0; j < 41; ++j)
        if (part.at(i, j) != whole.at(101 + i, 67 + j)) ++different;
    EXPECT_EQ(different, 0) << level;
  }
  restrict_isa_for_test("");
}

TEST(MatrixProductOnThreads, RanksThatMultiplyAtOnceAllGetTheirOwnResult) {
  constexpr int ranks = 4;
  std::array<int, ranks> wrong{};
  std::array<CountedMemory, ranks> memories;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      const auto at = static_cast<std::size_t>(rank);
      MatrixProduct product(memories[at]);
      const auto run = [&]<typename T>(T) {
        for (const bool transposed : {false, true}) {
          Stored<T> a(96, 256, {transposed});
          Stored<T> b(256, 192, {!transposed});
          Stored<T> out(96, 192);
          a.fill(static_cast<std::uint32_t>(10 + rank));
          b.fill(static_cast<std::uint32_t>(20 + rank));
          Stored<T> first(96, 192);
          product(a.read(), b.read(), nullptr, false, first.view());
          const auto expected = expected_product<T>(a.read(), b.read(), nullptr, nullptr);
          if (!(error_of(first.view(), expected, 256) <= rounding<T>)) ++wrong[at];
          for (int i = 0; i < 300; ++i) {
            product(a.read(), b.read(), nullptr, false, out.view());
            if (!same_bits(out, first)) ++wrong[at];
          }
        }
      };
      run(float{});
      run(double{});
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, (std::array<int, ranks>{}));
}

}  // namespace
}  // namespace shardlab::cpu
