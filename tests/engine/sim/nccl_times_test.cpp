#include "engine/sim/nccl_times.h"

#include <gtest/gtest.h>

#include "engine/sim/nccl_tables.h"
#include "tests/engine/sim/wires.h"

namespace shardlab::sim::nccl {
namespace {

constexpr double micro = 1e-6;
constexpr double mebi = 1024.0 * 1024;

Cost all_reduce(const Wires& wires, const Group& group, double bytes, Algorithm algorithm,
                Protocol protocol) {
  const Graphs graphs = search(wires, group);
  return cost_of({wires, group, graphs, Collective::all_reduce, bytes}, algorithm, protocol,
                 wires.nic_latency);
}

TEST(NcclTimes, ARingAcrossHostsPaysThePlateauFrom64BytesABlockAndRank) {
  // Simple, two hosts of 8: 8.4 + 28 steps inside of 3.4 us + 2 between of 14 us; 8 channels laid
  // twice are 16 blocks, 64 bytes * 16 * 16 ranks are 16 KiB.
  const double plain = 8.4 + 28 * 3.4 + 2 * 14;
  const Wires wires = dgx_h100();
  EXPECT_NEAR(all_reduce(wires, {16, 2}, 16383, Algorithm::ring, Protocol::simple).latency,
              plain * micro, 1e-12);
  EXPECT_NEAR(all_reduce(wires, {16, 2}, 16384, Algorithm::ring, Protocol::simple).latency,
              1.4 * plain * micro, 1e-12);
  // One host has none.
  EXPECT_NEAR(all_reduce(wires, {8, 1}, mebi, Algorithm::ring, Protocol::simple).latency,
              (8.4 + 14 * 3.4) * micro, 1e-12);
}

TEST(NcclTimes, OneGpuAHostPaysTheNetworkStepOfATree) {
  // 6.6 + 2 steps of 5 us, where a ring of more GPUs a host would pay 2.7.
  EXPECT_NEAR(all_reduce(dgx_h100(), {2, 2}, 1, Algorithm::ring, Protocol::ll).latency,
              16.6 * micro, 1e-12);
}

TEST(NcclTimes, StepsInsideAHostWaitForThePostToTheNic) {
  // LL: 28 steps of 0.6 us, but 1 us to post on Intel and 2 on AMD; 2 steps between of 2.7.
  Wires wires = dgx_h100();
  EXPECT_NEAR(all_reduce(wires, {16, 2}, 1, Algorithm::ring, Protocol::ll).latency,
              (6.6 + 28 * 1 + 2 * 2.7) * micro, 1e-12);
  wires.cpu = Cpu::amd;
  EXPECT_NEAR(all_reduce(wires, {16, 2}, 1, Algorithm::ring, Protocol::ll).latency,
              (6.6 + 28 * 2 + 2 * 2.7) * micro, 1e-12);
}

TEST(NcclTimes, LlAcrossHostsIsCappedByTheMakerOfTheCpu) {
  Wires wires = dgx_h100();
  // Ring: min(39, 360 / 2) times 16 / 30; AMD 22.5; on one host the GPU's 141.
  EXPECT_NEAR(all_reduce(wires, {16, 2}, 1, Algorithm::ring, Protocol::ll).bandwidth,
              39e9 * 16 / 30, 1);
  wires.cpu = Cpu::amd;
  EXPECT_NEAR(all_reduce(wires, {16, 2}, 1, Algorithm::ring, Protocol::ll).bandwidth,
              22.5e9 * 16 / 30, 1);
  EXPECT_NEAR(all_reduce(wires, {8, 1}, 1, Algorithm::ring, Protocol::ll).bandwidth, 141e9 * 8 / 14,
              1);
}

TEST(NcclTimes, TreesAreCorrectedByTheirSize) {
  EXPECT_EQ(tree_correction(Protocol::ll, 1), 1);
  // 64 B * 2^12 is 256 KiB, the lowest of LL's row.
  EXPECT_DOUBLE_EQ(tree_correction(Protocol::ll, 256 * 1024), 0.4);
  EXPECT_DOUBLE_EQ(tree_correction(Protocol::simple, 256 * mebi), 0.9);
  EXPECT_EQ(tree_correction(Protocol::simple, 1024 * mebi), 1);
  // Half an octave between 0.5 at 1 MiB and 0.6 at 2 MiB.
  EXPECT_NEAR(tree_correction(Protocol::simple, mebi * 1.41421356237), 0.55, 1e-9);
}

TEST(NcclTimes, WhatNcclDoesNotOfferHasNoBandwidth) {
  const Wires wires = dgx_h100();
  EXPECT_EQ(all_reduce(wires, {8, 1}, 1, Algorithm::nvls, Protocol::ll).bandwidth, 0);
  EXPECT_EQ(all_reduce(wires, {8, 1}, 1, Algorithm::nvls_tree, Protocol::simple).bandwidth, 0);
  EXPECT_EQ(all_reduce(wires, {16, 2}, 1, Algorithm::nvls, Protocol::simple).bandwidth, 0);
  EXPECT_EQ(all_reduce(wires, {16, 16}, 1, Algorithm::pat, Protocol::simple).bandwidth, 0);
  EXPECT_EQ(all_reduce(p4de(), {8, 1}, 1, Algorithm::nvls, Protocol::simple).bandwidth, 0);
}

TEST(NcclTimes, SpeedsThatTheSearchTriesFall) {
  for (const int sm : {70, 80, 90, 100})
    for (const bool between : {false, true}) {
      const auto tried = speeds(sm, between);
      for (std::size_t i = 1; i < tried.size(); ++i) EXPECT_LT(tried[i], tried[i - 1]);
    }
}

}  // namespace
}  // namespace shardlab::sim::nccl
