#include "engine/sim/attention_fill.h"

#include <gtest/gtest.h>

#include "engine/sim/machine_prices.h"
#include "engine/sim/machines.h"

namespace shardlab::sim {
namespace {

Step attention(const char* op, std::int64_t tokens, std::int64_t heads, std::int64_t width) {
  Step step;
  step.op = op;
  step.local = {1, tokens, heads, width};
  step.flop = 4 * tokens * tokens * heads * width;
  return step;
}

double fill(const Step& step, const char* profile = "pytorch-shardtensor-2025") {
  return attention_fill(find_machine("dgx-a100"), find_profile(profile), step);
}

// 108 processors. 6 heads of 2048 tokens in blocks of 64: 192, of which some processor has two.
TEST(AttentionFill, TheBusiestProcessorSetsTheTime) {
  EXPECT_DOUBLE_EQ(fill(attention("attention", 2048, 6, 128)), 192.0 / 216);
  EXPECT_DOUBLE_EQ(fill(attention("attention", 1088, 6, 128)), 6.0 * 17 / 108);
  // Heads wider than 128 in blocks of 32: 8 x 32 = 256, at most three a processor.
  EXPECT_DOUBLE_EQ(fill(attention("attention", 1024, 8, 256)), 256.0 / 324);
  // The gradient in blocks of 64 keys, whatever the width: 8 x 16 = 128.
  EXPECT_DOUBLE_EQ(fill(attention("attention_gradient", 1024, 8, 256)), 128.0 / 216);
  // Fewer blocks than processors: the others have nothing to do. 63 tokens make one block.
  EXPECT_DOUBLE_EQ(fill(attention("attention", 63, 6, 128)), 6.0 / 108);
}

TEST(AttentionFill, OtherKernelsAndSoftwareAreTakenAsTheyAre) {
  EXPECT_EQ(fill(attention("attention", 2048, 6, 128), "shardlab"), 1);
  EXPECT_EQ(fill(attention("add", 2048, 6, 128)), 1);
  EXPECT_EQ(fill(attention("attention", 0, 6, 128)), 1);
  Step half = attention("attention", 2048, 6, 128);
  half.dtype = Dtype::bfloat16;
  EXPECT_EQ(fill(half), 1);
}

TEST(AttentionFill, PricesFollowIt) {
  Machine machine = find_machine("dgx-a100");
  const Step step = attention("attention", 2048, 6, 128);
  const MachinePrices own(machine, find_profile("shardlab"), MathMode::exact);
  const MachinePrices peer(machine, find_profile("pytorch-shardtensor-2025"), MathMode::exact);
  const double launch = machine.value("gpu.launch");
  EXPECT_NEAR((peer.kernel(step) - launch) / (own.kernel(step) - launch), 216.0 / 192, 1e-9);
}

}  // namespace
}  // namespace shardlab::sim
