#include "engine/sim/machine_prices.h"

#include <gtest/gtest.h>

#include "engine/core/error.h"
#include "engine/sim/machines.h"

namespace shardlab::sim {
namespace {

Step started(const char* op, std::int64_t bytes, std::int32_t relative_peer = 0) {
  Step step;
  step.kind = Step::Kind::start;
  step.op = op;
  step.bytes = bytes;
  step.relative_peer = relative_peer;
  return step;
}

constexpr Place eight{8, 1, 8, 1, Wire::domain};
constexpr std::int64_t mib = 1 << 20;

MachinePrices prices_of(const Machine& machine, const char* profile = "shardlab",
                        const WhatIf& what_if = {}) {
  return {machine, find_profile(profile), MathMode::exact, what_if};
}

TEST(MachinePrices, OneRankCommunicatesForNothing) {
  const Machine machine = find_machine("dgx-h100");
  EXPECT_EQ(prices_of(machine).communication(started("all_reduce", mib), Place()).seconds(), 0);
}

TEST(MachinePrices, CallsTakeLongerWithMoreBytesAndAcrossTheNetwork) {
  const Machine machine = find_machine("dgx-h100");
  const MachinePrices prices = prices_of(machine);
  const Place across{16, 2, 8, 1, Wire::network};
  for (const char* op : {"all_reduce", "all_gather", "reduce_scatter", "all_to_all"}) {
    const double small = prices.communication(started(op, 64 * mib), eight).seconds();
    EXPECT_GT(prices.communication(started(op, 256 * mib), eight).seconds(), 2 * small) << op;
    EXPECT_GT(prices.communication(started(op, 64 * mib), across).seconds(), small) << op;
  }
  const Place neighbour{8, 1, 8, 1, Wire::domain};
  Place far = across;
  EXPECT_GT(prices.communication(started("exchange", 64 * mib, 1), far).seconds(),
            2 * prices.communication(started("exchange", 64 * mib, 1), neighbour).seconds());
}

// A curve of the machine stands above the model: 1 MiB takes the 5 ms that were measured, and half
// of that if wires are twice as fast.
TEST(MachinePrices, AMeasuredCurveIsReadAsItIs) {
  Machine machine = find_machine("dgx-h100");
  machine.collectives = {
      {"all_reduce", 8, 1, {{mib, 5e-3}, {4 * mib, 20e-3}}, Source::user_measured, "log", 0.05}};
  EXPECT_DOUBLE_EQ(prices_of(machine).communication(started("all_reduce", mib), eight).seconds(),
                   5e-3);
  // Halfway in the logarithm of both: sqrt(5 ms 20 ms).
  EXPECT_NEAR(
      prices_of(machine).communication(started("all_reduce", 2 * mib), eight).seconds() / 10e-3, 1,
      1e-14);
  WhatIf fast;
  fast.bandwidth = 2;
  EXPECT_DOUBLE_EQ(prices_of(machine, "shardlab", fast)
                       .communication(started("all_reduce", mib), eight)
                       .seconds(),
                   2.5e-3);
}

// Measured twice as slow as the model on 8 ranks: twice the model on 4 as well.
TEST(MachinePrices, ACurveOfOtherRanksCorrectsTheModel) {
  Machine machine = find_machine("dgx-h100");
  const Step call = started("all_reduce", 64 * mib);
  const Place four{4, 1, 4, 2, Wire::domain};
  machine.collectives.clear();
  const double model_eight = prices_of(machine).communication(call, eight).seconds();
  const double model_four = prices_of(machine).communication(call, four).seconds();
  machine.collectives = {{"all_reduce",
                          8,
                          1,
                          {{64 * mib, 2 * model_eight}, {128 * mib, 4 * model_eight}},
                          Source::user_measured,
                          "log",
                          0.05}};
  EXPECT_NEAR(prices_of(machine).communication(call, four).seconds() / model_four, 2, 1e-9);
}

// Twice the bytes are twice the transfer, but for its ramp, and no more latency; the wires are
// those that the call crosses: both where two domains hold several members, the network alone where
// they hold one.
TEST(MachinePrices, ACallSaysWhatIsLatencyAndWhichWiresItLoads) {
  const Machine machine = find_machine("dgx-h100");
  const MachinePrices prices = prices_of(machine);
  const CallPrice small = prices.communication(started("all_reduce", 1024 * mib), eight);
  const CallPrice large = prices.communication(started("all_reduce", 2048 * mib), eight);
  EXPECT_GT(small.latency, 0);
  EXPECT_DOUBLE_EQ(large.latency, small.latency);
  EXPECT_NEAR(large.transfer / small.transfer, 2, 0.1);
  EXPECT_TRUE(small.in_domain && !small.on_network);
  const CallPrice both =
      prices.communication(started("all_reduce", mib), Place{16, 2, 8, 1, Wire::network});
  EXPECT_TRUE(both.in_domain && both.on_network);
  const CallPrice rail =
      prices.communication(started("all_reduce", mib), Place{2, 2, 1, 8, Wire::network});
  EXPECT_TRUE(!rail.in_domain && rail.on_network);
}

// Of 8 GPUs at work each keeps 0.6 of what products and 0.3 of what sums take alone; with two at
// work a seventh of the loss, with one nothing is lost. `launch` is left out of the comparison by
// sizes that dwarf it.
TEST(MachinePrices, KernelsOfAFullHostKeepAShareOfTheirRate) {
  Machine machine = find_machine("dgx-h100");
  machine.numbers["host.busy_compute"] = {0.6, Source::user_measured, "", 0.1};
  machine.numbers["host.busy_memory"] = {0.3, Source::user_measured, "", 0.1};
  Step product;
  product.op = "linear";
  product.flop = std::int64_t{1} << 50;
  Step sum;
  sum.op = "add";
  sum.bytes = std::int64_t{1} << 42;
  const auto ratio = [&](const Step& step, int ranks) {
    const MachinePrices alone(machine, find_profile("shardlab"), MathMode::exact, {}, 1);
    const MachinePrices busy(machine, find_profile("shardlab"), MathMode::exact, {}, ranks);
    return alone.kernel(step) / busy.kernel(step);
  };
  EXPECT_NEAR(ratio(product, 1), 1, 1e-9);
  EXPECT_NEAR(ratio(product, 2), 1 - 0.4 / 7, 1e-9);
  EXPECT_NEAR(ratio(product, 8), 0.6, 1e-9);
  EXPECT_NEAR(ratio(product, 64), 0.6, 1e-9);
  EXPECT_NEAR(ratio(sum, 8), 0.3, 1e-9);
}

TEST(MachinePrices, ARingWithoutOverlapGoesOnAtItsWaitAndASumDoesNot) {
  const Machine machine = find_machine("dgx-h100");
  const MachinePrices old = prices_of(machine, "pytorch-shardtensor-2025");
  EXPECT_EQ(old.progress(started("exchange", mib, 1)), Progress::at_wait);
  EXPECT_EQ(old.progress(started("all_reduce", mib)), Progress::beside);
  EXPECT_EQ(prices_of(machine).progress(started("exchange", mib, 1)), Progress::beside);
}

TEST(MachinePrices, ACpuWithoutMeasuredCollectivesIsRefused) {
  Machine machine = find_machine("dgx-h100");
  machine.words["gpu.arch"] = "cpu";
  machine.collectives.clear();
  EXPECT_THROW((void)prices_of(machine).communication(started("all_reduce", mib), eight), Error);
}

}  // namespace
}  // namespace shardlab::sim
