#include <gtest/gtest.h>

#include "engine/core/error.h"
#include "engine/sim/nccl.h"
#include "tests/engine/sim/wires.h"

namespace shardlab::sim {
namespace {

constexpr double mebi = 1024.0 * 1024;

double transfer(const Choice& choice) {
  return choice.seconds - choice.latency_seconds - choice.ramp_seconds;
}

TEST(NcclPeers, AnEvenExchangeCostsWhatAllToAllSays) {
  for (const Group& group : {Group{8, 1}, Group{16, 2}, Group{16, 16}}) {
    std::vector<Piece> pieces;
    for (int i = 0; i < group.ranks; ++i)
      for (int j = 0; j < group.ranks; ++j) pieces.push_back({i, j, mebi});
    const Choice pairs = exchange(dgx_h100(), group, pieces);
    const Choice even = all_to_all(dgx_h100(), group, mebi * group.ranks);
    EXPECT_NEAR(pairs.seconds, even.seconds, 1e-9 * even.seconds);
    EXPECT_EQ(pairs.channels, even.channels);
  }
}

TEST(NcclPeers, AllToAllAcrossHostsWaitsForTheNics) {
  // 16 ranks on two hosts: half of 160 MB leaves over 0.95 * 48 GB/s; 70 MB stay on 370.8 GB/s.
  EXPECT_NEAR(transfer(all_to_all(dgx_h100(), {16, 2}, 160e6)), 80e6 / (0.95 * 48e9), 1e-9);
  // On one host 7/8 of it crosses NVLink.
  EXPECT_NEAR(transfer(all_to_all(dgx_h100(), {8, 1}, 160e6)), 140e6 / 370.8e9, 1e-9);
}

TEST(NcclPeers, TheBusiestPortDecides) {
  const Wires wires = dgx_h100();
  const std::vector<Piece> one{{0, 1, 8 * mebi}};
  const std::vector<Piece> fan_out{{0, 1, 8 * mebi}, {0, 2, 8 * mebi}};
  const std::vector<Piece> fan_in{{0, 2, 8 * mebi}, {1, 2, 8 * mebi}};
  const std::vector<Piece> pairs{{0, 1, 8 * mebi}, {1, 0, 8 * mebi}, {2, 3, 8 * mebi}};
  const double once = transfer(exchange(wires, {8, 1}, one));
  EXPECT_DOUBLE_EQ(once, 8 * mebi / 370.8e9);
  EXPECT_DOUBLE_EQ(transfer(exchange(wires, {8, 1}, fan_out)), 2 * once);
  EXPECT_DOUBLE_EQ(transfer(exchange(wires, {8, 1}, fan_in)), 2 * once);
  EXPECT_DOUBLE_EQ(transfer(exchange(wires, {8, 1}, pairs)), once);
}

TEST(NcclPeers, OneNicThatTakesFromManyIsAsBusyAsOneThatSendsToMany) {
  const std::vector<Piece> fan_in{{0, 8, mebi}, {1, 8, mebi}, {2, 8, mebi}};
  EXPECT_DOUBLE_EQ(transfer(exchange(dgx_h100(), {16, 2}, fan_in)), 3 * mebi / (0.95 * 48e9));
}

TEST(NcclPeers, UnequalPiecesCostWhatTheLargestLoadDoes) {
  const std::vector<Piece> even{{0, 1, 4 * mebi}, {1, 0, 4 * mebi}};
  const std::vector<Piece> uneven{{0, 1, 7 * mebi}, {1, 0, 1 * mebi}};
  EXPECT_DOUBLE_EQ(transfer(exchange(dgx_h100(), {8, 1}, uneven)),
                   7.0 / 4 * transfer(exchange(dgx_h100(), {8, 1}, even)));
}

TEST(NcclPeers, RanksThatShareANicShareItsRate) {
  // p4de: ranks 0 and 1 have NIC 0, ranks 2 and 3 NIC 1.
  const double rate = 0.95 * 12.5e9;
  const std::vector<Piece> same{{0, 8, mebi}, {1, 9, mebi}};
  const std::vector<Piece> other{{0, 8, mebi}, {2, 10, mebi}};
  EXPECT_DOUBLE_EQ(transfer(exchange(p4de(), {16, 2}, same)), 2 * mebi / rate);
  EXPECT_DOUBLE_EQ(transfer(exchange(p4de(), {16, 2}, other)), mebi / rate);
}

TEST(NcclPeers, AHaloInsideAHostIsTwoSidesOverNvlink) {
  EXPECT_NEAR(transfer(halo(dgx_h100(), {8, 1}, mebi, true)), 2 * mebi / 370.8e9, 1e-12);
  // Two ranks have one side each, closed or not.
  EXPECT_NEAR(transfer(halo(dgx_h100(), {2, 1}, mebi, true)), mebi / 370.8e9, 1e-12);
}

TEST(NcclPeers, AHaloAcrossHostsCostsOneSideOverTheNetwork) {
  EXPECT_NEAR(transfer(halo(dgx_h100(), {16, 2}, mebi, false)), mebi / (0.95 * 48e9), 1e-12);
  // With one GPU a host both sides of the inner ranks go there.
  EXPECT_NEAR(transfer(halo(dgx_h100(), {16, 16}, mebi, false)), 2 * mebi / (0.95 * 48e9), 1e-12);
}

TEST(NcclPeers, NothingToSendCostsTheLatency) {
  // Ring LL's base and one NVLink hop.
  EXPECT_NEAR(halo(dgx_h100(), {8, 1}, 0, false).seconds, 7.2e-6, 1e-12);
  EXPECT_NEAR(all_to_all(dgx_h100(), {8, 1}, 0).seconds, 7.2e-6, 1e-12);
  // Across hosts a network hop, and 1 us more to post to the second peer.
  EXPECT_NEAR(halo(dgx_h100(), {2, 2}, 0, false).seconds, 9.3e-6, 1e-12);
  EXPECT_NEAR(halo(dgx_h100(), {4, 4}, 0, false).seconds, 10.3e-6, 1e-12);
}

TEST(NcclPeers, PiecesBelow16KiBGoAsLl) {
  EXPECT_EQ(halo(dgx_h100(), {8, 1}, 16383, true).protocol, Protocol::ll);
  EXPECT_EQ(halo(dgx_h100(), {8, 1}, 16384, true).protocol, Protocol::simple);
  // Half of what LL sends are flags.
  EXPECT_NEAR(transfer(halo(dgx_h100(), {8, 1}, 8000, true)), 2 * 16000 / 370.8e9, 1e-15);
}

TEST(NcclPeers, LinksOfAMeshBelongToOnePair) {
  const std::vector<Piece> spread{{0, 1, mebi}, {0, 2, mebi}};
  const std::vector<Piece> heaped{{0, 1, mebi}, {0, 1, mebi}};
  EXPECT_DOUBLE_EQ(transfer(exchange(mi300x(), {8, 1}, spread)), mebi / 48e9);
  EXPECT_DOUBLE_EQ(transfer(exchange(mi300x(), {8, 1}, heaped)), 2 * mebi / 48e9);
  EXPECT_DOUBLE_EQ(transfer(all_to_all(mi300x(), {8, 1}, 8 * mebi)), mebi / 48e9);
}

TEST(NcclPeers, APieceOfARankThatDoesNotExistIsRefused) {
  EXPECT_THROW((void)exchange(dgx_h100(), {8, 1}, std::vector<Piece>{{0, 8, 1}}), Error);
  EXPECT_THROW((void)exchange(dgx_h100(), {8, 1}, std::vector<Piece>{{0, 1, -1}}), Error);
}

}  // namespace
}  // namespace shardlab::sim
