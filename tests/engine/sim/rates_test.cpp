#include "engine/sim/rates.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/sim/machines.h"
#include "tests/engine/sim/machine_case.h"

namespace shardlab::sim {
namespace {

constexpr Precision float64{Dtype::float64, MathMode::exact};
constexpr Precision float32{Dtype::float32, MathMode::exact};
constexpr Precision tf32{Dtype::float32, MathMode::tf32};
constexpr Precision bfloat16{Dtype::bfloat16, MathMode::exact};

/// The small machine with one measured curve: 1 GFLOP at 1 GFLOP/s, 100 GFLOP at 100 GFLOP/s. Its
/// launch gap is 2 us, its peaks are 50, 100 and 200 GFLOP/s and 10 GB/s.
Machine with_curve(const std::string& more = "") {
  return machine_of(
      "extends = \"small\"\n[[curve]]\nfamily = \"matmul\"\ndtype = \"float32\"\n"
      "unit = [\"GFLOP\", \"GFLOP/s\"]\npoints = [[1, 1], [100, 100]]\n"
      "source = \"user_measured\"\n" +
      more);
}

Points at_rate(double from, double to, double rate) { return {{from, rate}, {to, rate}}; }

TEST(RateLine, OnAPointTheRateIsThePoint) {
  RateLine line;
  line.complete({{1e3, 7}, {1e6, 11}, {1e9, 13}}, Source::vendor, 0.1);
  for (const auto& [size, rate] : Points{{1e3, 7}, {1e6, 11}, {1e9, 13}}) {
    EXPECT_EQ(line.at(size).value, rate);
    EXPECT_FALSE(line.at(size).extrapolated);
  }
}

TEST(RateLine, BetweenPointsItIsStraightInTheLogarithms) {
  // Half way between 1e3 and 1e7 in the logarithm lies 1e5; half way between 2 and 8 lies 4.
  RateLine line;
  line.complete({{1e3, 2}, {1e7, 8}}, Source::vendor, 0.1);
  EXPECT_NEAR(line.at(1e5).value, 4, 1e-12);
  EXPECT_FALSE(line.at(1e5).extrapolated);
}

TEST(RateLine, BeyondTheLastPointItIsFlatAndSaysSo) {
  RateLine line;
  line.complete({{1e3, 2}, {1e7, 8}}, Source::vendor, 0.1);
  EXPECT_EQ(line.at(1e9).value, 8);
  EXPECT_TRUE(line.at(1e9).extrapolated);
}

TEST(RateLine, BelowTheFirstPointNeitherRateNorTimeGrowsAsTheSizeFalls) {
  // Slope 1/2 goes on: a hundredth of the size has a tenth of the rate.
  RateLine half;
  half.complete({{1e6, 10}, {1e8, 100}}, Source::vendor, 0.1);
  EXPECT_NEAR(half.at(1e4).value, 1, 1e-12);
  EXPECT_TRUE(half.at(1e4).extrapolated);
  // Slope 2 would let the time grow as the size falls: with slope 1 it stays at 1e6 / 10.
  RateLine steep;
  steep.complete({{1e6, 10}, {1e7, 1000}}, Source::vendor, 0.1);
  EXPECT_NEAR(1e4 / steep.at(1e4).value, 1e5, 1e-6);
  // A falling curve and a single point stay flat.
  RateLine falling;
  falling.complete({{1e6, 10}, {1e7, 5}}, Source::vendor, 0.1);
  EXPECT_NEAR(falling.at(1e4).value, 10, 1e-12);
  RateLine single;
  single.complete({{1e6, 10}}, Source::vendor, 0.1);
  EXPECT_NEAR(single.at(1).value, 10, 1e-12);
}

TEST(RateLine, AWorseKnownCurveOnlyAddsWhatIsMissing) {
  RateLine line;
  line.complete(at_rate(1e6, 1e8, 10), Source::user_measured, 0.05);
  line.complete({{1e4, 2}, {1e7, 99}, {1e10, 40}}, Source::derived, 0.2);
  for (const double size : {1e6, 2e6, 1e7, 5e7, 1e8}) {
    EXPECT_NEAR(line.at(size).value, 10, 1e-12) << size;
    EXPECT_EQ(line.at(size).weakest, Source::user_measured) << size;
  }
  EXPECT_EQ(line.at(1e4).value, 2);
  EXPECT_EQ(line.at(1e10).value, 40);
  // Half way from (1e8, 10) to (1e10, 40): 20, known as badly as the worse end.
  const Reading between = line.at(1e9);
  EXPECT_NEAR(between.value, 20, 1e-12);
  EXPECT_EQ(between.weakest, Source::derived);
  EXPECT_EQ(between.half_width, 0.2);
  EXPECT_FALSE(between.extrapolated);
}

TEST(RateLine, WithoutPointsThereIsNoRate) { EXPECT_THROW((void)RateLine().at(1), Error); }

TEST(Rates, AKernelWithoutWorkCostsTheLaunchGap) {
  const Rates rates(with_curve());
  for (const Family family : {Family::matmul, Family::attention, Family::pointwise}) {
    const OpTime time = rates.time({family, float32, 0, 0});
    EXPECT_EQ(time.seconds, 2e-6);
    EXPECT_EQ(time.weakest, Source::derived);
    EXPECT_DOUBLE_EQ(time.half_width, 0.20);
    EXPECT_FALSE(time.extrapolated);
  }
}

TEST(Rates, AProductCostsItsFlopAtTheRateOfTheCurveAndTheGap) {
  const Rates rates(with_curve());
  // On the points: 1e9 / 1e9 and 1e11 / 1e11. Between, rate and size rise alike: always 1 s.
  for (const double flop : {1e9, 1e10, 1e11}) {
    const OpTime time = rates.time({Family::matmul, float32, flop, 0});
    EXPECT_NEAR(time.seconds, 1 + 2e-6, 1e-9) << flop;
    EXPECT_EQ(time.weakest, Source::derived) << "the launch gap is derived";
    // sqrt((1 * 0.05)^2 + (2e-6 * 0.20)^2) / 1.000002.
    EXPECT_NEAR(time.half_width, 0.05, 1e-6);
    EXPECT_FALSE(time.extrapolated);
  }
  // Beyond: 1e13 / 1e11.
  const OpTime beyond = rates.time({Family::matmul, float32, 1e13, 0});
  EXPECT_NEAR(beyond.seconds, 100 + 2e-6, 1e-9);
  EXPECT_TRUE(beyond.extrapolated);
}

TEST(Rates, TheSlowerOfFlopAndBytesDecides) {
  const Rates rates(with_curve());
  // 1e11 flop take 1 s; 5e10 bytes at 10 GB/s take 5 s, 5e9 bytes half a second.
  EXPECT_NEAR(rates.time({Family::matmul, float32, 1e11, 5e10}).seconds, 5 + 2e-6, 1e-9);
  EXPECT_NEAR(rates.time({Family::matmul, float32, 1e11, 5e9}).seconds, 1 + 2e-6, 1e-9);
  const OpTime bytes = rates.time({Family::matmul, float32, 1e11, 5e10});
  EXPECT_EQ(bytes.weakest, Source::vendor);
  EXPECT_TRUE(bytes.extrapolated) << "no curve of bytes";
}

TEST(Rates, APointwiseKernelCostsItsBytesOnly) {
  const Rates rates(
      with_curve("[[curve]]\nfamily = \"pointwise\"\nunit = [\"GB\", \"GB/s\"]\n"
                 "points = [[1, 4], [4, 8]]\nsource = \"user_measured\"\n"));
  // Half way in the logarithm between 1 and 4 GB: 2 GB at sqrt(4 * 8) GB/s.
  const OpTime time = rates.time({Family::pointwise, float32, 1e15, 2e9});
  EXPECT_NEAR(time.seconds, 2e9 / (std::sqrt(32.0) * 1e9) + 2e-6, 1e-12);
  EXPECT_FALSE(time.extrapolated);
}

TEST(Rates, AnOpWithACurveOfItsOwnReadsThatOne) {
  const Rates rates(
      with_curve("[[curve]]\nfamily = \"pointwise\"\nunit = [\"GB\", \"GB/s\"]\n"
                 "points = [[1, 4], [4, 4]]\nsource = \"user_measured\"\n"
                 "[[curve]]\nfamily = \"pointwise\"\nop = \"gelu_erf\"\nunit = [\"GB\", \"GB/s\"]\n"
                 "points = [[1, 2], [4, 2]]\nsource = \"user_measured\"\n"
                 "[[curve]]\nfamily = \"matmul\"\nop = \"outer_sum\"\ndtype = \"float32\"\n"
                 "unit = [\"GFLOP\", \"GFLOP/s\"]\npoints = [[1, 10], [100, 10]]\n"
                 "source = \"user_measured\"\n"));
  // 2 GB at 2 GB/s, at 4 GB/s for every other op.
  EXPECT_NEAR(rates.time({Family::pointwise, float32, 0, 2e9, "gelu_erf"}).seconds, 1, 1e-5);
  EXPECT_NEAR(rates.time({Family::pointwise, float32, 0, 2e9, "add"}).seconds, 0.5, 1e-5);
  EXPECT_TRUE(rates.time({Family::pointwise, float32, 0, 2e9, "gelu_erf"}).by_memory);
  // 1e10 flop at 10 GFLOP/s; `linear` and other precisions do not have that curve.
  EXPECT_NEAR(rates.time({Family::matmul, float32, 1e10, 0, "outer_sum"}).seconds, 1, 1e-5);
  EXPECT_FALSE(rates.time({Family::matmul, float32, 1e10, 0, "outer_sum"}).by_memory);
  EXPECT_NEAR(rates.time({Family::matmul, float64, 1e10, 0, "outer_sum"}).seconds, 0.2, 1e-5);
  EXPECT_NEAR(rates.time({Family::matmul, float32, 1e11, 0, "linear"}).seconds, 1, 1e-5);
}

TEST(Rates, DoublePrecisionFallsToItsPeak) {
  // 50 GFLOP/s of the small machine: 1e11 flop take 2 s.
  const OpTime time = Rates(with_curve()).time({Family::matmul, float64, 1e11, 0});
  EXPECT_NEAR(time.seconds, 2 + 2e-6, 1e-9);
  EXPECT_EQ(time.weakest, Source::vendor);
  EXPECT_TRUE(time.extrapolated);
}

TEST(Rates, Tf32IsAModeOfFloat32Products) {
  const std::string peak =
      "gpu.peak.tf32 = { value = 400, unit = \"GFLOP/s\", source = \"vendor\" }\n";
  const Work matmul{Family::matmul, tf32, 1e11, 0};
  const Work attention{Family::attention, tf32, 1e11, 0};
  // A device without it computes exactly: the curve, 1 s; attention at the float32 peak, 1 s.
  EXPECT_NEAR(Rates(with_curve()).time(matmul).seconds, 1 + 2e-6, 1e-9);
  EXPECT_NEAR(Rates(with_curve()).time(attention).seconds, 1 + 2e-6, 1e-9);
  // One with it: 1e11 flop at 400 GFLOP/s; attention stays exact.
  const Machine machine = machine_of("extends = \"small\"\n" + peak);
  EXPECT_NEAR(Rates(machine).time(matmul).seconds, 0.25 + 2e-6, 1e-9);
  EXPECT_NEAR(Rates(machine).time(attention).seconds, 1 + 2e-6, 1e-9);
  // The mode means nothing to other dtypes.
  EXPECT_EQ(
      Rates(machine).time({Family::matmul, {Dtype::bfloat16, MathMode::tf32}, 1e11, 0}).seconds,
      Rates(machine).time({Family::matmul, bfloat16, 1e11, 0}).seconds);
}

TEST(Rates, AUsersCurveStandsBeforeADerivedOne) {
  const std::string derived =
      "[[curve]]\nfamily = \"matmul\"\ndtype = \"float32\"\nunit = [\"GFLOP\", \"GFLOP/s\"]\n"
      "points = [[0.01, 5], [10, 5]]\nsource = \"derived\"\n";
  const Rates rates(with_curve(derived));
  EXPECT_NEAR(rates.time({Family::matmul, float32, 1e10, 0}).seconds, 1 + 2e-6, 1e-9);
  EXPECT_NEAR(rates.time({Family::matmul, float32, 1e7, 0}).seconds, 0.01 / 5 + 2e-6, 1e-12);
}

TEST(Rates, AnOpIsOfAFamilyByItsNameAndElsePointwise) {
  EXPECT_EQ(family_of("matmul"), Family::matmul);
  EXPECT_EQ(family_of("linear"), Family::matmul);
  EXPECT_EQ(family_of("outer_sum"), Family::matmul);
  EXPECT_EQ(family_of("attention"), Family::attention);
  EXPECT_EQ(family_of("attention_gradient"), Family::attention_gradient);
  EXPECT_EQ(family_of("attention_merge"), Family::pointwise);
  EXPECT_EQ(family_of("gelu_erf"), Family::pointwise);
  EXPECT_EQ(family_of(""), Family::pointwise);
}

TEST(Rates, OnBuiltInMachinesMoreWorkNeverTakesLessTime) {
  for (const BuiltInMachine& each : built_in_machines()) {
    const Rates rates(find_machine(each.name));
    for (const Family family : {Family::matmul, Family::attention, Family::attention_gradient})
      for (const Precision precision : {float64, float32, tf32, bfloat16}) {
        double before = 0;
        for (double flop = 1; flop < 1e17; flop *= 1.3) {
          const double seconds = rates.time({family, precision, flop, 0}).seconds;
          // 1e-12: a floor is constant but for rounding.
          EXPECT_GE(seconds, before * (1 - 1e-12))
              << each.name << ' ' << name_of(family) << ' ' << name_of(precision) << ' ' << flop;
          before = seconds;
        }
      }
    double before = 0;
    for (double bytes = 1; bytes < 1e13; bytes *= 1.3) {
      const double seconds = rates.time({Family::pointwise, float32, 0, bytes}).seconds;
      EXPECT_GE(seconds, before * (1 - 1e-12)) << each.name << " at " << bytes;
      before = seconds;
    }
  }
}

TEST(Rates, ThePublishedPointsOfAMachineComeBack) {
  // A cube of 8192 in float16 on H100: 2 * 8192^3 flop at 749.9 TFLOP/s, 1466 us, and the gap.
  const Rates rates(find_machine("dgx-h100"));
  const double flop = 2.0 * 8192 * 8192 * 8192;
  const OpTime time = rates.time({Family::matmul, {Dtype::float16, MathMode::exact}, flop, 0});
  EXPECT_NEAR(time.seconds, 1466e-6 + 1.5e-6, 1e-6);
  EXPECT_NEAR(time.half_width, 0.10, 0.001);
}

}  // namespace
}  // namespace shardlab::sim
