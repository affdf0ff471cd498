#include "engine/sim/memory.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "engine/sim/machines.h"

namespace shardlab::sim {
namespace {

constexpr double gib = 0x1p30;

EngineMemory engine_of(double parameters, double activations) {
  EngineMemory engine;
  engine.peak = parameters + activations;
  engine.at_peak[static_cast<int>(Category::parameter)] = parameters;
  engine.at_peak[static_cast<int>(Category::activation)] = activations;
  engine.parameters = parameters;
  return engine;
}

DeviceMemory memory_of(const EngineMemory& engine, const char* profile, int ranks = 1) {
  return device_memory(find_machine("dgx-h100"), find_profile(profile), engine, {},
                       Placement(Mesh({{"domain", ranks}}), 8));
}

TEST(DeviceMemory, PartsAddUpAndEachLevelHoldsTheOneBelow) {
  const DeviceMemory memory = memory_of(engine_of(2 * gib, 3 * gib), "shardlab", 8);
  const double sum = std::accumulate(
      memory.parts.begin(), memory.parts.end(), 0.0,
      [](double so_far, const MemoryPart& part) { return so_far + part.bytes.value; });
  EXPECT_NEAR(sum, memory.total, 1);
  EXPECT_DOUBLE_EQ(memory.engine, 5 * gib);
  EXPECT_DOUBLE_EQ(memory.allocated, 5 * gib);
  EXPECT_GE(memory.reserved, memory.allocated);
  EXPECT_GT(memory.total, memory.reserved);
  EXPECT_EQ(std::fmod(memory.reserved, find_machine("dgx-h100").value("allocator.segment")), 0);
}

// Inference that keeps a gradient and two moments of every parameter: 2 + 1 + 3 x 2 GiB.
TEST(DeviceMemory, AProfileThatKeepsTrainingStatePaysForItAtInferenceOnly) {
  EngineMemory engine = engine_of(2 * gib, 1 * gib);
  EXPECT_DOUBLE_EQ(memory_of(engine, "pytorch-shardtensor-2025").allocated, 9 * gib);
  engine.training = true;
  EXPECT_DOUBLE_EQ(memory_of(engine, "pytorch-shardtensor-2025").allocated, 3 * gib);
}

TEST(Fit, NamesTheAmountAndTheLargestPart) {
  const Machine machine = find_machine("dgx-h100");
  EXPECT_TRUE(fit(machine, memory_of(engine_of(2 * gib, 60 * gib), "shardlab")).fits);
  const Fit broken = fit(machine, memory_of(engine_of(2 * gib, 90 * gib), "shardlab"));
  EXPECT_FALSE(broken.fits);
  EXPECT_EQ(broken.breaker, "activation");
  // 92 GiB and half a GB of context and workspace, times 1.03, less 81,559 MiB.
  EXPECT_NEAR(broken.over / gib, 92.5 * 1.03 - 81559 / 1024.0, 0.4);
}

}  // namespace
}  // namespace shardlab::sim
