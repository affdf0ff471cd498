#include "engine/sim/kernel_fit.h"

#include <gtest/gtest.h>

#include "engine/sim/machines.h"

namespace shardlab::sim {
namespace {

constexpr Precision bfloat16{Dtype::bfloat16, MathMode::exact};

/// Kernels that take `factor` times what a machine says, but for its launch.
class KernelFitting : public testing::Test {
 protected:
  void measure(Work work, double factor, int samples = 3) {
    const double launch = machine_.value("gpu.launch");
    const double seconds = launch + factor * (Rates(machine_).time(work).seconds - launch);
    kernels_.push_back({work, std::vector<double>(static_cast<std::size_t>(samples), seconds)});
  }

  void product(double flop, double factor, int samples = 3) {
    measure({Family::matmul, bfloat16, flop, 0}, factor, samples);
  }

  [[nodiscard]] KernelFit fit() const {
    const std::vector<KernelFit> fits = fit_kernels(machine_, kernels_, 3, "run 7");
    EXPECT_EQ(fits.size(), 1U);
    return fits.at(0);
  }

  [[nodiscard]] double time_after(Work work) const {
    return Rates(corrected(machine_, {fit()})).time(work).seconds;
  }

  const Machine machine_ = find_machine("dgx-h100");
  std::vector<MeasuredKernel> kernels_;
};

TEST_F(KernelFitting, KernelsThatTakeTwiceAsLongHalveTheRate) {
  for (const double flop : {1e10, 1e11, 1e12}) product(flop, 2);
  const KernelFit found = fit();
  EXPECT_EQ(found.refused, "");
  ASSERT_EQ(found.sizes.size(), 3U);
  for (const FittedSize& size : found.sizes) EXPECT_NEAR(size.ratio, 2, 1e-9);
  // What is predicted is half of what was measured, but for the launch of 1.5 us.
  EXPECT_NEAR(found.before, 0.5, 0.05);
  EXPECT_NEAR(found.after, 0, 1e-9);
  EXPECT_EQ(found.curves.front().source, Source::user_measured);
  EXPECT_EQ(found.curves.front().from, "run 7");
  // Between measured sizes the machine's own points keep their shape: 137.439 GFLOP is one.
  const Work between{Family::matmul, bfloat16, 137.439e9, 0};
  const double launch = machine_.value("gpu.launch");
  EXPECT_NEAR(time_after(between) - launch, 2 * (Rates(machine_).time(between).seconds - launch),
              1e-9);
}

TEST_F(KernelFitting, OutsideTheMeasuredSizesTheMachineStaysAsItWas) {
  for (const double flop : {1e10, 1e11}) product(flop, 2);
  const Work outside{Family::matmul, bfloat16, 1.09951e12, 0};
  EXPECT_DOUBLE_EQ(time_after(outside), Rates(machine_).time(outside).seconds);
}

TEST_F(KernelFitting, ASizeLeftOutIsPredictedByTheOthers) {
  for (const double flop : {1e10, 1e11, 1e12}) product(flop, 2);
  const KernelFit found = fit();
  ASSERT_TRUE(found.left_out && found.sizes[1].left_out && found.sizes[0].left_out);
  // The middle one lies on the line between its neighbours; the first has none below it.
  EXPECT_NEAR(*found.sizes[1].left_out, 0, 0.02);
  EXPECT_GT(*found.sizes[0].left_out, 0.2);
}

TEST_F(KernelFitting, TwoSamplesCorrectNothing) {
  product(1e10, 2, 2);
  const KernelFit found = fit();
  EXPECT_EQ(found.sizes[0].left, "2 samples, 3 are needed");
  EXPECT_TRUE(found.curves.empty());
  EXPECT_EQ(corrected(machine_, {found}), machine_);
}

TEST_F(KernelFitting, ASizeWhoseTimeFallsIsLeftOut) {
  // At 1e11 a quarter of the time: less than that of 5e10.
  for (const double flop : {1e10, 2e10, 5e10}) product(flop, 2, 10);
  product(1e11, 0.25, 4);
  for (const double flop : {2e11, 1e12}) product(flop, 2, 10);
  const KernelFit found = fit();
  EXPECT_EQ(found.refused, "");
  EXPECT_EQ(found.sizes[3].left, "its time does not fit between the other sizes");
  double longest = 0;
  for (const auto& [size, rate] : found.curves.front().points) {
    EXPECT_GE(size / rate, longest);
    longest = size / rate;
  }
}

TEST_F(KernelFitting, TimesThatDoNotRiseRefuseTheFamily) {
  // Rates of about 500 TFLOP/s: 8, 4 and 2 times 20, 40 and 80 us are the same 160 us and rise by
  // nothing; halved again, each size takes less than the one before.
  product(1e10, 7);
  product(4e10, 0.8);
  product(1.6e11, 0.15);
  const KernelFit found = fit();
  EXPECT_NE(found.refused.find("do not rise"), std::string::npos) << found.refused;
  EXPECT_TRUE(found.curves.empty());
}

TEST_F(KernelFitting, KernelsAsShortAsALaunchSayNothingOfARate) {
  measure({Family::pointwise, {}, 0, 1000}, 1);
  EXPECT_EQ(fit().sizes[0].left, "hardly longer than a launch");
}

TEST_F(KernelFitting, ProductsThatWaitForTheMemoryAreNotRated) {
  // 1 GB at 3 TB/s takes 300 us, 1 GFLOP 10 us.
  measure({Family::matmul, bfloat16, 1e9, 1e9}, 1);
  EXPECT_EQ(fit().sizes[0].left, "bound by the memory");
}

TEST_F(KernelFitting, AFactorBeyondEightIsNotTheRate) {
  product(1e10, 9);
  EXPECT_NE(fit().sizes[0].left.find("not a matter of the rate"), std::string::npos);
}

TEST_F(KernelFitting, PrecisionsAreFittedApartAndPointwiseKernelsTogether) {
  measure({Family::matmul, bfloat16, 1e11, 0}, 2);
  measure({Family::matmul, {}, 1e11, 0}, 1);
  measure({Family::pointwise, bfloat16, 0, 1e8}, 1);
  measure({Family::pointwise, {}, 0, 1e9}, 1);
  EXPECT_EQ(fit_kernels(machine_, kernels_, 3, "").size(), 3U);
}

}  // namespace
}  // namespace shardlab::sim
