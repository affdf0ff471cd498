#include "engine/sim/wire_shares.h"

#include <gtest/gtest.h>

#include <numeric>

#include "engine/core/error.h"
#include "tests/engine/sim/hand_made.h"

namespace shardlab::sim {
namespace {

/// When the call on each axis ends; all ranks do the same and wait for all calls at their end.
std::vector<double> ends(const Mesh& mesh, const TraceWriter& trace, double latency = 0,
                         int domain = 64) {
  WrittenPrices prices;
  prices.latency = latency;
  const std::vector<int> alike(static_cast<std::size_t>(mesh.size()), 0);
  const Programs programs({trace.get()});
  const Simulated simulated = simulate(Placement(mesh, domain), alike, programs.get(), prices);
  std::vector<double> ends;
  for (const TimedStep& timed : simulated.timelines[0].steps)
    if (timed.step->kind == Step::Kind::start) ends.push_back(timed.end_seconds);
  return ends;
}

const Mesh square({{"data", 2}, {"domain", 2}});

// Alone: 1 + 3. Together: latencies at once, 0-1; then 6 s of transfer over one port.
TEST(WireShares, TwoEqualCallsTakeTheirLatencyAndTwiceTheirTransfer) {
  TraceWriter alone;
  alone.start({0}, 3).wait({0}, 1);
  EXPECT_EQ(ends(square, alone, 1), std::vector<double>({4}));
  TraceWriter both;
  both.start({0}, 3).start({1}, 3).wait({0}, 1).wait({1}, 1);
  EXPECT_EQ(ends(square, both, 1), std::vector<double>({7, 7}));
}

// The first has moved 2 of its 4 s when the second begins at 2; its other half takes 4 s more,
// to 6. The second has then moved 2 of 4 and goes on alone to 8.
TEST(WireShares, ACallThatBeginsHalfwayStretchesTheRest) {
  TraceWriter trace;
  trace.start({0}, 4).kernel(2).start({1}, 4).wait({0}, 1).wait({1}, 1);
  EXPECT_EQ(ends(square, trace), std::vector<double>({6, 8}));
}

// Domains of 2: one call crosses the network, the other stays within.
TEST(WireShares, CallsOnOtherWiresAreLeftAlone) {
  TraceWriter trace;
  trace.start({0}, 3).start({1}, 3).wait({0}, 1).wait({1}, 1);
  EXPECT_EQ(ends(square, trace, 0, 2), std::vector<double>({3, 3}));
}

// Thirds until the first has its 1 at 3; halves until the second has its 2 at 5; the third has
// moved 1 + 1 by then and its last second alone.
TEST(WireShares, ThreeCallsOfUnequalSizesLeaveTheirSharesToTheOthers) {
  const Mesh cube({{"a", 2}, {"b", 2}, {"c", 2}});
  TraceWriter trace;
  trace.start({0}, 1).start({1}, 2).start({2}, 3).wait({0}, 1).wait({1}, 1).wait({2}, 1);
  const std::vector<double> found = ends(cube, trace);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_DOUBLE_EQ(found[0], 3);
  EXPECT_DOUBLE_EQ(found[1], 5);
  EXPECT_DOUBLE_EQ(found[2], 6);
}

// Calls of one communicator queue and share with the other's: 2 s and then 2 s against 4 s, all at
// half speed: 4 and 8, the other at 8.
TEST(WireShares, AQueueSharesAsOneCall) {
  TraceWriter trace;
  trace.start({0}, 2).start({0}, 2).start({1}, 4).wait({0}, 1).wait({0}, 2).wait({1}, 1);
  EXPECT_EQ(ends(square, trace), std::vector<double>({4, 8, 8}));
}

// Port 0 carries calls 0 and 1, port 1 calls 1 and 2 and 3: 1, 2 and 3 get a third; call 0 gets the
// two thirds that call 1 leaves.
TEST(WireShares, WhatABusierPortLeavesIsUsed) {
  WireShares shares(2);
  const CallPrice price{0, 6, true, false};
  const std::vector<int> first{0};
  const std::vector<int> second{1};
  const std::vector<int> both{0, 1};
  shares.begin(0, first, price, 0);
  shares.begin(1, both, price, 0);
  shares.begin(2, second, price, 0);
  shares.begin(3, second, price, 0);
  std::vector<double> end(4);
  for (const auto& [call, when] : shares.update(0)) end[call] = when;
  EXPECT_NEAR(end[0], 9, 1e-12);
  for (const int call : {1, 2, 3}) EXPECT_NEAR(end[call], 18, 1e-12);
}

TEST(WireShares, TooMuchWorkIsRefusedInTime) {
  WireShares shares(1, 3);
  const std::vector<int> own{0};
  const CallPrice price{0, 6, true, false};
  for (int call = 0; call < 2; ++call) shares.begin(call, own, price, 0);
  (void)shares.update(0);
  shares.begin(2, own, price, 1);
  try {
    (void)shares.update(1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::unsupported);
    EXPECT_NE(std::string(error.what()).find("more than 3 calls"), std::string::npos);
  }
}

/// A ring along the second axis while sums run along the first, over domains of 8.
TraceWriter overlapping(std::int64_t kernel) {
  TraceWriter trace;
  for (std::uint64_t i = 1; i <= 6; ++i)
    trace.start({0}, 5).start({1}, 3, 1).kernel(kernel).wait({1}, i);
  for (std::uint64_t i = 1; i <= 6; ++i) trace.wait({0}, i);
  return trace;
}

void fold_equals_unfold(const Mesh& mesh, const std::vector<TraceWriter>& traces,
                        const std::vector<int>& trace_class, int domain, double alone_seconds) {
  std::vector<const Trace*> pointers;
  for (const TraceWriter& trace : traces) pointers.push_back(trace.get());
  const Programs programs(pointers);
  WrittenPrices prices;
  prices.network = 2;
  prices.latency = 0.5;
  prices.beside = 1.25;
  Stragglers apart;
  for (int rank = 0; rank < mesh.size(); ++rank) apart.slowdown[rank] = 1;
  const Placement placement(mesh, domain);
  const Simulated folded = simulate(placement, trace_class, programs.get(), prices);
  const Simulated unfolded = simulate(placement, trace_class, programs.get(), prices, apart);
  EXPECT_LT(folded.timelines.size(), 32U);
  ASSERT_EQ(unfolded.timelines.size(), 64U);
  for (int rank = 0; rank < 64; ++rank)
    EXPECT_NEAR(folded.timelines[folded.classes.of_rank[rank]].seconds,
                unfolded.timelines[rank].seconds, 1e-9)
        << rank;
  EXPECT_GT(folded.seconds, alone_seconds);
  EXPECT_GT(folded.timelines[0].shared_seconds, 0);
}

// Both in the domain: six sums of 5 s alone take 33 s with their latencies.
TEST(FoldedEqualsUnfolded, SumsBesideARingOnTheSameWires) {
  fold_equals_unfold(Mesh({{"data", 8}, {"domain", 8}}), {overlapping(4)}, std::vector<int>(64, 0),
                     64, 33.1);
}

// The ring within hosts of 8, sums between; every second sum meets only part of the ring.
TEST(FoldedEqualsUnfolded, SumsBesideARingOverHosts) {
  const Mesh mesh({{"data", 4}, {"domain", 16}});
  fold_equals_unfold(mesh, {overlapping(4)}, std::vector<int>(64, 0), 8, 63.1);
  std::vector<int> bigger(64, 0);
  for (int rank = 0; rank < 64; ++rank) bigger[rank] = rank % 16 < 4 ? 1 : 0;
  fold_equals_unfold(mesh, {overlapping(4), overlapping(9)}, bigger, 8, 63.1);
}

}  // namespace
}  // namespace shardlab::sim
