#include "engine/backends/cpu/onednn.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "engine/core/error.h"
#include "tests/engine/backends/products.h"

namespace shardlab::cpu {
namespace {

TEST(Onednn, TellsItsVersion) {
  const std::string version = onednn_version();
  EXPECT_TRUE(version.starts_with("2.") || version.starts_with("3.")) << version;
}

TEST(Onednn, ProductsAreRightWhetherWeightsArePackedOrNot) {
  CountedMemory memory;
  Scratch scratch(memory);
  OnednnMatmul multiply(scratch);
  struct Case {
    std::int64_t m, n, k;
  };
  for (const Case& c : std::vector<Case>{{63, 3072, 20},
                                         {64, 3072, 20},
                                         {255, 3073, 17},
                                         {256, 3073, 17},
                                         {1024, 40, 1024},
                                         {1024, 40, 1023}})
    for (int form = 0; form < 16; ++form) {
      SCOPED_TRACE(testing::Message() << c.m << "x" << c.k << "x" << c.n << " form " << form);
      Stored<float> a(c.m, c.k, {(form & 1) != 0});
      Stored<float> b(c.k, c.n, {(form & 2) != 0});
      Stored<float> bias(1, c.n);
      Stored<float> out(c.m, c.n);
      a.fill(1);
      b.fill(2);
      bias.fill(3);
      out.fill(4);
      const float* const row = (form & 4) != 0 ? bias.read().data : nullptr;
      const bool accumulate = (form & 8) != 0;
      const Matrix<float> before = out.view();
      const auto expected =
          expected_product(a.read(), b.read(), row, accumulate ? &before : nullptr);
      multiply(a.read(), b.read(), row, accumulate, out.view());
      EXPECT_LE(error_of(out.view(), expected, c.k), rounding<float>);
    }
}

TEST(Onednn, ScratchpadsAreTakenFromTheGivenMemory) {
  CountedMemory memory;
  Scratch scratch(memory);
  OnednnMatmul multiply(scratch);
  Stored<float> a(64, 80, {false, 3});
  Stored<float> b(80, 96);
  Stored<float> bias(1, 96);
  Stored<float> out(64, 96);
  a.fill(1);
  b.fill(2);
  bias.fill(3);
  out.fill(4);
  multiply(a.read(), b.read(), bias.read().data, true, out.view());
  EXPECT_GE(memory.live, 64 * 96 * 4);
}

TEST(Onednn, ScratchThatMovedIsFoundAgain) {
  CountedMemory memory;
  Scratch scratch(memory);
  OnednnMatmul multiply(scratch);
  for (const std::int64_t n : {3072, 5120, 3072, 7168, 5120}) {
    Stored<float> a(64, 33);
    Stored<float> b(33, n);
    Stored<float> out(64, n);
    a.fill(1);
    b.fill(static_cast<std::uint32_t>(n));
    const auto expected = expected_product<float>(a.read(), b.read(), nullptr, nullptr);
    multiply(a.read(), b.read(), nullptr, false, out.view());
    EXPECT_LE(error_of(out.view(), expected, 33), rounding<float>);
  }
}

TEST(Onednn, MoreShapesThanAreKeptStayRight) {
  CountedMemory memory;
  Scratch scratch(memory);
  OnednnMatmul multiply(scratch);
  for (std::int64_t k = 1; k <= 1100; ++k) {
    Stored<float> a(2, k);
    Stored<float> b(k, 3);
    Stored<float> out(2, 3);
    a.fill(1);
    b.fill(2);
    const auto expected = expected_product<float>(a.read(), b.read(), nullptr, nullptr);
    multiply(a.read(), b.read(), nullptr, false, out.view());
    ASSERT_LE(error_of(out.view(), expected, k), rounding<float>) << k;
  }
}

TEST(Onednn, AnErrorOfTheLibraryIsExternalAndTellsItsStatus) {
  CountedMemory memory;
  Scratch scratch(memory);
  OnednnMatmul multiply(scratch);
  float value = 0.0f;
  try {
    multiply({&value, -1, 1, 1}, {&value, 1, 1, 1}, nullptr, false, {&value, -1, 1, 1});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::external);
    EXPECT_NE(std::string(error.what()).find("-1x1"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("status 2 (invalid_arguments)"), std::string::npos)
        << error.what();
  }
}

TEST(Onednn, RankThreadsWithTheSameShapesDoNotDisturbEachOther) {
  struct Rank {
    explicit Rank(std::uint32_t seed) {
      a.fill(seed);
      b.fill(seed + 100);
      const auto expected = expected_product<float>(a.read(), b.read(), nullptr, nullptr);
      multiply(a.read(), b.read(), nullptr, false, first.view());
      EXPECT_LE(error_of(first.view(), expected, 128), rounding<float>);
    }
    void run() {
      for (int i = 0; i < 1000; ++i) {
        multiply(a.read(), b.read(), nullptr, false, out.view());
        if (!same_bits(out, first)) ++wrong;
      }
    }

    CountedMemory memory;
    Scratch scratch{memory};
    OnednnMatmul multiply{scratch};
    Stored<float> a{192, 128, {true}};
    Stored<float> b{128, 256, {true}};
    Stored<float> first{192, 256};
    Stored<float> out{192, 256};
    int wrong = 0;
  };
  std::array<Rank, 4> ranks{Rank(1), Rank(2), Rank(3), Rank(4)};
  std::vector<std::thread> threads;
  for (Rank& rank : ranks) threads.emplace_back([&rank] { rank.run(); });
  for (std::thread& thread : threads) thread.join();
  for (const Rank& rank : ranks) EXPECT_EQ(rank.wrong, 0);
}

}  // namespace
}  // namespace shardlab::cpu
