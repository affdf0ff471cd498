#include "engine/sim/offload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <limits>

#include "engine/core/error.h"
#include "engine/sim/machines.h"

namespace shardlab::sim {
namespace {

constexpr Offload nothing{};
constexpr Offload optimizer{.optimizer = true};
constexpr Offload activations{.activations = true};
constexpr Offload both{.optimizer = true, .activations = true};

/// A training step by hand: 4 s forward, 6 s backward, 1 s of update; beside the 100 bytes that
/// always live it holds 40, 70, 50, 30, 10.
class HandMadeStep : public testing::Test {
 protected:
  HandMadeStep() {
    kernel(nullptr, 0, 140);
    kernel(nullptr, 2, 170);
    kernel(&backward_, 4, 150);
    kernel(&backward_, 7, 130);
    kernel(&optimizer_, 10, 110);
    timeline_.seconds = 11;
    engine_.peak = 175;  // Inside a kernel, 5 bytes more than after it.
    engine_.training = true;
    engine_.at_peak[static_cast<int>(Category::parameter)] = 60;
    engine_.at_peak[static_cast<int>(Category::optimizer)] = 20;
    engine_.at_peak[static_cast<int>(Category::activation)] = 95;
  }

  [[nodiscard]] Offloaded with(Offload offload, HostLink link, double half_width = 0) const {
    return offloaded(offload, link, timeline_, half_width, engine_, 100);
  }

  static constexpr HostLink slow{.copy_bandwidth = 10};

  /// Beside the 100 bytes, after each step; the highest moment is 5 bytes more inside a kernel.
  void hold(const std::vector<std::int64_t>& bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) steps_[i].live_bytes = 100 + bytes[i];
    engine_.peak = 105.0 + static_cast<double>(*std::max_element(bytes.begin(), bytes.end()));
  }

 private:
  void kernel(const std::string* scope, double begin, std::int64_t live) {
    Step step;
    step.op = "kernel";
    step.scope = scope;
    step.live_bytes = live;
    step.local = {1};
    steps_.push_back(step);
    timeline_.steps.push_back({&steps_.back(), 0, begin, begin});
  }

  const std::string backward_ = "backward";
  const std::string optimizer_ = "optimizer.of the head";
  std::deque<Step> steps_;  ///< Timed steps point at them.
  Timeline timeline_;
  EngineMemory engine_;
};

TEST(HostLink, BytesInBothDirectionsCrossAtOnce) {
  EXPECT_DOUBLE_EQ(transfer_seconds({.copy_bandwidth = 10}, {0, 30, 50}), 5);
}

// 4 devices move 80 bytes each through a memory of 40 bytes a second: 8 s, more than the wire's 5.
TEST(HostLink, DevicesOfAHostShareItsMemory) {
  const HostLink link{.copy_bandwidth = 10, .memory_bandwidth = 40, .devices = 4};
  EXPECT_DOUBLE_EQ(transfer_seconds(link, {0, 30, 50}), 8);
}

TEST(HostLink, WhatIsShorterThanComputeIsHiddenAndTheRestExposed) {
  EXPECT_DOUBLE_EQ(exposed_seconds({.copy_bandwidth = 10}, {5, 50, 0}), 0);
  EXPECT_DOUBLE_EQ(exposed_seconds({.copy_bandwidth = 10}, {4, 50, 0}), 1);
}

TEST(HostLink, NothingIsHiddenWithoutCompute) {
  EXPECT_DOUBLE_EQ(exposed_seconds({.copy_bandwidth = 10}, {0, 50, 0}), 5);
}

TEST(HostLink, NoBytesCostNothing) {
  EXPECT_DOUBLE_EQ(exposed_seconds({.copy_bandwidth = 10}, {0, 0, 0}), 0);
}

// DGX H100: 51 GB/s a GPU; 8 GPUs that copy both ways want 816 GB/s of the host's 614.4.
TEST(HostLink, OfAMachineIsThatOfItsFile) {
  const Machine machine = find_machine("dgx-h100");
  const HostLink one = host_link(machine, 1);
  EXPECT_EQ(one.devices, 1);
  EXPECT_DOUBLE_EQ(transfer_seconds(one, {0, 51e9, 51e9}), 1);
  const HostLink many = host_link(machine, 64);
  EXPECT_EQ(many.devices, 8);
  EXPECT_DOUBLE_EQ(transfer_seconds(many, {0, 51e9, 51e9}), 816.0 / 614.4);
}

TEST_F(HandMadeStep, WithoutOffloadNothingChanges) {
  const Offloaded step = with(nothing, slow, 0.1);
  EXPECT_EQ(step.exposed_seconds, 0);
  EXPECT_EQ(step.host_bytes, 0);
  EXPECT_EQ(step.engine.peak, 175);
  EXPECT_DOUBLE_EQ(step.half_width, 0.1);
}

TEST_F(HandMadeStep, AnInfiniteLinkCostsNothing) {
  const HostLink link{.copy_bandwidth = std::numeric_limits<double>::infinity()};
  EXPECT_EQ(with(both, link).exposed_seconds, 0);
}

// 20 bytes each way take 2 s beside an update of 1 s; staging two pieces of two moments of 4 bytes.
TEST_F(HandMadeStep, OptimizerStateCrossesBesideTheUpdate) {
  const Offloaded step = with(optimizer, slow);
  EXPECT_DOUBLE_EQ(step.exposed_seconds, 1);
  EXPECT_DOUBLE_EQ(step.host_bytes, 20);
  EXPECT_DOUBLE_EQ(step.staged_bytes, 16);
  EXPECT_DOUBLE_EQ(step.engine.peak, 175 - 20 + 16);
}

// Forward ends with 70 saved: 7 s out beside 4, 7 s back beside 6. Forward need hold none of its 40
// and 70; backward, whose gradients are 30, keeps 30 of 50 and all 30: the highest moment holds 30
// where it held 70. Two outputs of 4 bytes are staged, 5 bytes inside kernels stay.
TEST_F(HandMadeStep, ActivationsLeaveInForwardAndReturnForBackward) {
  const Offloaded step = with(activations, slow);
  EXPECT_DOUBLE_EQ(step.exposed_seconds, 3 + 1);
  EXPECT_DOUBLE_EQ(step.host_bytes, 70);
  EXPECT_DOUBLE_EQ(step.staged_bytes, 8);
  EXPECT_DOUBLE_EQ(step.engine.peak, 175 - 40 + 8);
}

// Of 110 at first only the 70 that outlive forward can leave: 40 stay where 110 were.
TEST_F(HandMadeStep, WhatForwardFreesAgainStaysOnTheDevice) {
  hold({110, 70, 50, 30, 10});
  EXPECT_DOUBLE_EQ(with(activations, slow).engine.peak, 215 - 70 + 8);
}

TEST_F(HandMadeStep, PartsOfWhatStaysAddUpToItsPeak) {
  const Offloaded step = with(both, slow);
  double sum = 0;
  for (const double part : step.engine.at_peak) sum += part;
  EXPECT_DOUBLE_EQ(sum, step.engine.peak);
  EXPECT_EQ(step.engine.at_peak[static_cast<int>(Category::optimizer)], 0);
}

// All parts wait: 7 + 7 + 2 s of copies, known to 0.25, and none of the kernels' 0.1.
TEST_F(HandMadeStep, IsAsUncertainAsTheLinkWhereItWaitsForIt) {
  HostLink link = slow;
  link.half_width = 0.25;
  EXPECT_DOUBLE_EQ(with(both, link, 0.1).half_width, 0.25);
}

TEST(Offload, IsReadAsWritten) {
  for (const Offload& offload : all_offloads()) EXPECT_EQ(parse_offload(name_of(offload)), offload);
  EXPECT_THROW((void)parse_offload("weights"), Error);
}

}  // namespace
}  // namespace shardlab::sim
