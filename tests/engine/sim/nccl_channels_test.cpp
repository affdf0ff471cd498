#include "engine/sim/nccl_channels.h"

#include <gtest/gtest.h>

#include "tests/engine/sim/wires.h"

namespace shardlab::sim::nccl {
namespace {

void expect_graph(const Graph& graph, int channels, double within, double between) {
  EXPECT_EQ(graph.channels, channels);
  EXPECT_DOUBLE_EQ(graph.within, within);
  EXPECT_DOUBLE_EQ(graph.between, between);
}

TEST(NcclChannels, EightH100TakeTwelveRingsOf30AndEightHeadsOf40) {
  const Graphs graphs = search(dgx_h100(), {8, 1});
  // 18 links of 20.6 GB/s are 370.8: six rings of 60, doubled.
  expect_graph(graphs.ring, 12, 30e9, 30e9);
  expect_graph(graphs.tree, 12, 30e9, 30e9);
  // Nine shares of 41.2 fit, and 40 is the speed below; nothing limits what leaves the domain.
  expect_graph(graphs.nvls, 8, 40e9, 60e9);
}

TEST(NcclChannels, HostsOfH100TakeOneRingOf45ForEachNic) {
  // 8 x 48 would need 384 of the 370.8 GB/s of NVLink.
  for (const int hosts : {2, 4, 12}) {
    const Graphs graphs = search(dgx_h100(), {8 * hosts, hosts});
    expect_graph(graphs.ring, 8, 45e9, 45e9);
    expect_graph(graphs.nvls, 8, 40e9, 48e9);
  }
}

TEST(NcclChannels, FourGb200TakeSixteenRingsOf45) {
  // 18 links of 40.1 GB/s are 721.8: eight rings of 90, doubled.
  expect_graph(search(gb200_rack(), {4, 1}).ring, 16, 45e9, 45e9);
}

TEST(NcclChannels, ARackOfGb200TakesTwentyForEachOf32Heads) {
  // 33 shares of 721.8 are 21.9.
  EXPECT_EQ(search(gb200_rack(), {72, 1}).nvls.channels, 32);
  EXPECT_DOUBLE_EQ(search(gb200_rack(), {72, 1}).nvls.within, 20e9);
}

TEST(NcclChannels, FourSlowNicsUnderEightA100GiveTreesTwiceTheSpeedInside) {
  const Graphs graphs = search(p4de(), {16, 2});
  expect_graph(graphs.ring, 4, 12e9, 12e9);
  expect_graph(graphs.tree, 4, 24e9, 12e9);
  EXPECT_EQ(graphs.nvls.channels, 0);
}

TEST(NcclChannels, EightA100TakeTwelveRingsOf20) {
  // 12 links of 20 GB/s are 240: six rings of 40, doubled.
  expect_graph(search(p4de(), {8, 1}).ring, 12, 20e9, 20e9);
}

TEST(NcclChannels, OneGpuAHostUsesItsOwnNicInTwoChannels) {
  expect_graph(search(dgx_h100(), {16, 16}).ring, 2, 24e9, 24e9);
}

TEST(NcclChannels, TwiceTheLinksGiveTwiceTheRate) {
  Wires wires = dgx_h100();
  EXPECT_DOUBLE_EQ(domain_rate(wires, {8, 1}), 370.8e9);
  wires.link_bytes_per_second *= 2;
  EXPECT_DOUBLE_EQ(domain_rate(wires, {8, 1}), 741.6e9);
}

TEST(NcclChannels, TwoGpusOfAMeshOfEightUseOneLinkOfSeven) {
  Wires wires = mi300x();
  EXPECT_DOUBLE_EQ(domain_rate(wires, {2, 1}), 48e9);
  EXPECT_DOUBLE_EQ(domain_rate(wires, {8, 1}), 7 * 48e9);
}

TEST(NcclChannels, ConcurrentGroupsShareNicsOnlyWhereThereAreTooFew) {
  // Eight groups of one GPU a host: eight NICs have one each, four are shared by two.
  EXPECT_DOUBLE_EQ(nics_of(dgx_h100(), {16, 16, 8}).rate, 48e9);
  EXPECT_DOUBLE_EQ(nics_of(p4de(), {16, 16, 8}).rate, 12.5e9 / 2);
}

TEST(NcclChannels, SmallCallsRunFewerBlocks) {
  const Wires wires = dgx_h100();
  const Group group{8, 1};
  const Graphs graphs = search(wires, group);
  EXPECT_EQ(blocks_of(wires, group, graphs, Algorithm::ring, Protocol::simple, 1e3), 1);
  // 512 threads of 64 bytes are 32 KiB a block.
  EXPECT_EQ(blocks_of(wires, group, graphs, Algorithm::ring, Protocol::simple, 256 * 1024), 8);
  EXPECT_EQ(blocks_of(wires, group, graphs, Algorithm::ring, Protocol::simple, 1e9), 24);
  EXPECT_EQ(blocks_of(wires, group, graphs, Algorithm::nvls, Protocol::simple, 1e9), 16);
}

}  // namespace
}  // namespace shardlab::sim::nccl
