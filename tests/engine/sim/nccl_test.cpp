#include "engine/sim/nccl.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/core/error.h"
#include "engine/sim/nccl_ramp.h"
#include "tests/engine/sim/wires.h"

namespace shardlab::sim {
namespace {

constexpr double mebi = 1024.0 * 1024;
constexpr double large = 16 * 1024 * mebi;

// What nccl-tests prints, of the bandwidth term alone.
double bus_bandwidth(const Choice& choice, int ranks) {
  return choice.bandwidth * 2 * (ranks - 1) / ranks;
}

Choice all_reduce(const Wires& wires, const Group& group, double bytes) {
  return choose(wires, group, Collective::all_reduce, bytes);
}

TEST(Nccl, OneHostOfH100ReducesInTheSwitchAt476) {
  const Choice choice = all_reduce(dgx_h100(), {8, 1}, large);
  EXPECT_EQ(choice.algorithm, Algorithm::nvls);
  // 8 heads * 40 GB/s * 0.85 * 7/8 * 2.
  EXPECT_NEAR(bus_bandwidth(choice, 8), 476e9, 1e6);
}

TEST(Nccl, TwoHostsOfH100Reach461AndMoreHosts364) {
  // 8 channels, each at most 57.7 GB/s on two hosts and 45.5 on more.
  const Choice two = all_reduce(dgx_h100(), {16, 2}, large);
  EXPECT_EQ(two.algorithm, Algorithm::nvls_tree);
  EXPECT_NEAR(bus_bandwidth(two, 16), 461.6e9, 1e6);
  for (const int hosts : {4, 8, 12})
    EXPECT_NEAR(bus_bandwidth(all_reduce(dgx_h100(), {8 * hosts, hosts}, large), 8 * hosts), 364e9,
                1e6);
}

TEST(Nccl, FourGb200RunRingsAt720) {
  const Choice choice = all_reduce(gb200_rack(), {4, 1}, large);
  EXPECT_EQ(choice.algorithm, Algorithm::ring);
  EXPECT_NEAR(bus_bandwidth(choice, 4), 720e9, 1e6);
}

TEST(Nccl, SixteenA100OnFourSlowNicsRunTreesAt82) {
  const Choice choice = all_reduce(p4de(), {16, 2}, large);
  EXPECT_EQ(choice.algorithm, Algorithm::tree);
  // 4 channels * 24 GB/s * 0.92 / 2 of the call's bytes, times 30/16.
  EXPECT_NEAR(bus_bandwidth(choice, 16), 82.8e9, 1e6);
}

TEST(Nccl, OneByteTakesTheLatencyOfTheTables) {
  // Ring LL: 6.6 + 14 steps of 0.6 us.
  EXPECT_NEAR(all_reduce(dgx_h100(), {8, 1}, 1).seconds, 15e-6, 1e-9);
  // Tree LL on two hosts: 6.8 + 2 * (7 * 0.6 + 5) us; with 75 us on the way twice that more.
  EXPECT_NEAR(all_reduce(dgx_h100(), {16, 2}, 1).seconds, 25.2e-6, 1e-9);
  EXPECT_NEAR(all_reduce(p4de(), {16, 2}, 1).seconds, 175.2e-6, 1e-9);
}

TEST(Nccl, ZeroBytesCostTheLatency) {
  for (const Wires& wires : {dgx_h100(), p4de(), mi300x()})
    for (const Collective collective : {Collective::all_reduce, Collective::all_gather,
                                        Collective::reduce_scatter, Collective::broadcast}) {
      const Choice choice = choose(wires, {8, 1}, collective, 0);
      EXPECT_GT(choice.seconds, 0);
      EXPECT_DOUBLE_EQ(choice.seconds, choice.latency_seconds);
    }
}

TEST(Nccl, PartsAddUpToTheWhole) {
  for (double bytes = 1; bytes < large; bytes *= 3) {
    const Choice choice = all_reduce(dgx_h100(), {32, 4}, bytes);
    EXPECT_NEAR(choice.seconds,
                choice.latency_seconds + bytes / choice.bandwidth + choice.ramp_seconds,
                1e-12 * choice.seconds);
  }
}

TEST(Nccl, GrowingCallsSwitchFromLlToSimple) {
  EXPECT_EQ(all_reduce(dgx_h100(), {16, 2}, 1024).protocol, Protocol::ll);
  EXPECT_EQ(all_reduce(dgx_h100(), {16, 2}, mebi).protocol, Protocol::ll128);
  EXPECT_EQ(all_reduce(dgx_h100(), {16, 2}, 1024 * mebi).protocol, Protocol::simple);
  Wires far = dgx_h100();
  far.near_nics = false;
  for (double bytes = 1; bytes < large; bytes *= 2)
    EXPECT_NE(all_reduce(far, {16, 2}, bytes).protocol, Protocol::ll128);
}

TEST(Nccl, ALargerCallTakesLongerUnlessTheChoiceSwitches) {
  for (const Wires& wires : {dgx_h100(), gb200_rack(), p4de(), mi300x()})
    for (const int domains : {1, 2, 4}) {
      if (wires.sm == 0 && domains > 1) continue;
      for (const Collective collective : {Collective::all_reduce, Collective::all_gather,
                                          Collective::reduce_scatter, Collective::broadcast}) {
        const Group group{4 * domains, domains};
        Choice before = choose(wires, group, collective, 1);
        for (double bytes = 1.1; bytes < large; bytes *= 1.1) {
          const Choice choice = choose(wires, group, collective, bytes);
          // A ring across hosts has a step of its own at 64 bytes a block and rank.
          const bool same = choice.algorithm == before.algorithm &&
                            choice.protocol == before.protocol &&
                            choice.latency_seconds >= before.latency_seconds;
          if (same) {
            EXPECT_GT(choice.seconds, before.seconds)
                << name_of(choice.algorithm) << ' ' << name_of(choice.protocol) << ' ' << bytes;
          }
          before = choice;
        }
      }
    }
}

TEST(Nccl, LongCallsGatherAtTheRateOfTheRingAndNotOfTheSwitch) {
  const Choice choice = choose(dgx_h100(), {8, 1}, Collective::all_gather, large);
  EXPECT_EQ(choice.algorithm, Algorithm::ring);
  // 12 rings of 30 GB/s send 7/8 of the result.
  EXPECT_NEAR(choice.bandwidth, 360e9 * 8 / 7, 1e6);
  EXPECT_DOUBLE_EQ(choose(dgx_h100(), {8, 1}, Collective::reduce_scatter, large).bandwidth,
                   choice.bandwidth);
  // A broadcast sends all of it down one chain.
  EXPECT_NEAR(choose(dgx_h100(), {8, 1}, Collective::broadcast, large).bandwidth, 360e9, 1e6);
}

TEST(Nccl, OneGpuAHostMayGatherByParallelTrees) {
  EXPECT_EQ(choose(dgx_h100(), {64, 64}, Collective::all_gather, mebi).algorithm, Algorithm::pat);
}

TEST(Nccl, WhatThePluginReportsSwaysTheChoiceAndNotTheTime) {
  Wires slow = dgx_h100();
  slow.nic_latency_reported = 75e-6;
  bool swayed = false;
  for (double bytes = 1024; bytes < large; bytes *= 2) {
    const Choice honest = all_reduce(dgx_h100(), {16, 2}, bytes);
    const Choice misled = all_reduce(slow, {16, 2}, bytes);
    if (honest.algorithm == misled.algorithm && honest.protocol == misled.protocol)
      EXPECT_DOUBLE_EQ(honest.seconds, misled.seconds);
    else
      swayed = true;
  }
  EXPECT_TRUE(swayed);
}

TEST(Nccl, ConcurrentGroupsHalveWhatSharedNicsGive) {
  // One GPU a host over 12.5 GB/s, of which a call of two ranks sends all its bytes; two groups
  // of eight share each of the four NICs.
  const Choice alone = all_reduce(p4de(), {2, 2, 1}, large);
  const Choice eight = all_reduce(p4de(), {2, 2, 8}, large);
  EXPECT_NEAR(eight.bandwidth, 6.25e9, 1e6);
  EXPECT_GT(alone.bandwidth, 1.5 * eight.bandwidth);
}

TEST(Nccl, WiresWithoutTablesCostLatencyRateAndRamp) {
  // Ring of 8: 8 + 14 * 2 us, 336 GB/s * 8/14, and the root of their product.
  const Choice choice = all_reduce(mi300x(), {8, 1}, large);
  EXPECT_EQ(choice.algorithm, Algorithm::plain);
  EXPECT_NEAR(choice.bandwidth, 192e9, 1e6);
  EXPECT_NEAR(choice.latency_seconds, 36e-6, 1e-12);
  EXPECT_NEAR(choice.ramp_seconds, std::sqrt(36e-6 * large / 192e9), 1e-9);
  // A tree of 8: 8 + 2 * 3 * 2 us.
  EXPECT_NEAR(all_reduce(mi300x(), {8, 1}, 0).seconds, 20e-6, 1e-12);
}

TEST(Nccl, OneRankWaitsForNobody) { EXPECT_EQ(all_reduce(dgx_h100(), {1, 1}, large).seconds, 0); }

TEST(Nccl, RampGrowsWithTheRootOfTheSizeUntilChunksAreFull) {
  EXPECT_DOUBLE_EQ(nccl::ramp_seconds(25e-6, 100e-6, 1), 50e-6);
  EXPECT_DOUBLE_EQ(nccl::ramp_seconds(25e-6, 400e-6, 1), 100e-6);
  EXPECT_DOUBLE_EQ(nccl::ramp_seconds(25e-6, 400e-6, 100e-6), 50e-6);
  // 64 rounds of 16 blocks, 8 heads and 128 KiB.
  EXPECT_DOUBLE_EQ(nccl::full_chunk_bytes({8, 1}, Algorithm::nvls, Protocol::simple, 16, 8),
                   1024 * mebi);
  EXPECT_EQ(nccl::full_chunk_bytes({8, 1}, Algorithm::ring, Protocol::ll, 24, 8), 0);
}

TEST(Nccl, WhatNoCommunicatorCouldBeIsRefused) {
  EXPECT_THROW((void)all_reduce(dgx_h100(), {16, 1}, 1), Error);
  EXPECT_THROW((void)all_reduce(dgx_h100(), {2, 4}, 1), Error);
  EXPECT_THROW((void)all_reduce(dgx_h100(), {0, 1}, 1), Error);
  EXPECT_THROW((void)all_reduce(dgx_h100(), {8, 1}, -1), Error);
  EXPECT_THROW((void)all_reduce(mi300x(), {16, 2}, 1), Error);
  Wires wires = dgx_h100();
  wires.sm = 86;
  EXPECT_THROW((void)all_reduce(wires, {8, 1}, 1), Error);
  wires = dgx_h100();
  wires.link_bytes_per_second = 0;
  EXPECT_THROW((void)all_reduce(wires, {8, 1}, 1), Error);
}

}  // namespace
}  // namespace shardlab::sim
