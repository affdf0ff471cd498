#include "engine/sim/links.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "engine/core/error.h"

namespace shardlab::sim {
namespace {

TEST(Links, ZeroBytesCostTheLatencyOfTheRouteAndNothingElse) {
  const std::vector<Link> links{{10, 2}, {5, 3}};
  const std::vector<Flow> flows{{{0, 1}, 0}, {{1}, 0, 7}, {{}, 0, 1}};
  // 2 + 3; started at 7: 7 + 3; no route: at once.
  EXPECT_EQ(finish_times(links, flows), (std::vector<double>{5, 10, 1}));
}

TEST(Links, OneFlowMovesAtTheNarrowestLinkOfItsRoute) {
  const std::vector<Link> links{{10, 1}, {4, 1}, {8, 0}};
  // Latency 1 + 1, then 20 bytes at 4 bytes/s.
  EXPECT_DOUBLE_EQ(finish_times(links, std::vector<Flow>{{{0, 1, 2}, 20}}).front(), 2 + 5);
}

TEST(Links, TwoEqualFlowsTakeTwiceAsLong) {
  const std::vector<Link> links{{10, 0}};
  EXPECT_DOUBLE_EQ(finish_times(links, std::vector<Flow>{{{0}, 50}}).front(), 5);
  EXPECT_EQ(finish_times(links, std::vector<Flow>{{{0}, 50}, {{0}, 50}}),
            (std::vector<double>{10, 10}));
}

TEST(Links, ParkingLotGivesTheLongFlowTheShareOfItsBusiestLink) {
  // A long flow over three links of capacity 12; one short flow on the first, two on the second,
  // three on the third. The third link saturates first: 12 / 4 = 3 each, the long flow with it.
  // Then the second has 12 - 3 left for two: 4.5 each; the first 12 - 3 for one: 9.
  const std::vector<Link> links{{12, 0}, {12, 0}, {12, 0}};
  const std::vector<Flow> flows{{{0, 1, 2}, 1}, {{0}, 1}, {{1}, 1}, {{1}, 1},
                                {{2}, 1},       {{2}, 1}, {{2}, 1}};
  const std::vector<double> expected{3, 9, 4.5, 4.5, 3, 3, 3};
  const std::vector<double> rates = fair_rates(links, flows);
  for (std::size_t f = 0; f < flows.size(); ++f) EXPECT_DOUBLE_EQ(rates[f], expected[f]) << f;
}

TEST(Links, ACappedFlowFreesItsShare) {
  // 12 for three flows is 4 each; one cannot use more than 2, so the others get 5.
  const std::vector<Link> links{{12, 0}};
  const std::vector<Flow> flows{{{0}, 1, 0, 2}, {{0}, 1}, {{0}, 1}};
  EXPECT_EQ(fair_rates(links, flows), (std::vector<double>{2, 5, 5}));
}

TEST(Links, AFlowThatEndsLeavesItsShareToTheOthers) {
  // Both at 5 until the small one has its 10 bytes at t = 2; the other then has 30 - 10 = 20 left
  // at 10 bytes/s and ends at 4.
  const std::vector<Link> links{{10, 0}};
  EXPECT_EQ(finish_times(links, std::vector<Flow>{{{0}, 10}, {{0}, 30}}),
            (std::vector<double>{2, 4}));
}

TEST(Links, AFlowThatStartsLaterTakesItsShareFromThen) {
  // Alone at 10 until t = 1, so 20 of 30 bytes left; then 5 each: the late one needs 10 / 5 = 2 s
  // and ends at 3, the first has 20 - 10 = 10 left at 10 bytes/s and ends at 4.
  const std::vector<Link> links{{10, 0}};
  EXPECT_EQ(finish_times(links, std::vector<Flow>{{{0}, 30}, {{0}, 10, 1}}),
            (std::vector<double>{4, 3}));
}

TEST(Links, AFlowWaitingForItsLatencyLoadsNoLink) {
  // The second pays 3 s of latency on link 1 first; until then the first has link 0 alone.
  const std::vector<Link> links{{10, 0}, {100, 3}};
  const std::vector<double> times = finish_times(links, std::vector<Flow>{{{0}, 30}, {{0, 1}, 10}});
  EXPECT_EQ(times, (std::vector<double>{3, 4}));
}

TEST(Links, ALinkCrossedTwiceCarriesTheFlowTwice) {
  const std::vector<Link> links{{10, 1}};
  // Two latencies, then 20 bytes of load for 10 bytes.
  EXPECT_DOUBLE_EQ(finish_times(links, std::vector<Flow>{{{0, 0}, 10}}).front(), 4);
}

TEST(Links, FlowsWithNeitherLinkNorLimitArriveAtOnce) {
  EXPECT_EQ(finish_times({}, std::vector<Flow>{{{}, 10, 2}, {{}, 10, 2, 5}}),
            (std::vector<double>{2, 4}));
}

TEST(Links, EveryFlowHasABottleneckOnWhichNoneIsFaster) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<Link> links(8);
    for (Link& link : links) link.capacity = static_cast<double>(1 + random() % 20);
    std::vector<Flow> flows(30);
    for (Flow& flow : flows) {
      for (int l = 0; l < 8; ++l)
        if (random() % 3 == 0) flow.route.push_back(l);
      if (flow.route.empty()) flow.route.push_back(0);
      if (random() % 4 == 0) flow.most_rate = 0.25 * static_cast<double>(1 + random() % 8);
    }
    const std::vector<double> rates = fair_rates(links, flows);
    std::vector<double> load(links.size());
    std::vector<double> fastest(links.size());
    for (std::size_t f = 0; f < flows.size(); ++f)
      for (const int l : flows[f].route) {
        load[l] += rates[f];
        fastest[l] = std::max(fastest[l], rates[f]);
      }
    for (std::size_t l = 0; l < links.size(); ++l) EXPECT_LE(load[l], links[l].capacity + 1e-9);
    for (std::size_t f = 0; f < flows.size(); ++f) {
      bool bound = rates[f] >= flows[f].most_rate - 1e-9;
      for (const int l : flows[f].route)
        bound |= load[l] >= links[l].capacity - 1e-9 && rates[f] >= fastest[l] - 1e-9;
      EXPECT_TRUE(bound) << "round " << round << ", flow " << f;
    }
  }
}

TEST(Links, AnEvenAllToAllOf256EndsWhenEveryPortHasSentAll) {
  constexpr int n = 256;
  const std::vector<Link> links(2 * n, Link{50e9, 1e-6});
  std::vector<Flow> flows;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      if (i != j) flows.push_back({{i, n + j}, 1e6});
  // Two latencies, then 255 MB through a port of 50 GB/s.
  for (const double time : finish_times(links, flows))
    ASSERT_NEAR(time, 2e-6 + 255e6 / 50e9, 1e-12);
}

TEST(Links, WhatIsNoLinkOrNoFlowIsRefused) {
  const std::vector<Link> links{{10, 0}};
  EXPECT_THROW((void)finish_times(links, std::vector<Flow>{{{1}, 1}}), Error);
  EXPECT_THROW((void)finish_times(links, std::vector<Flow>{{{-1}, 1}}), Error);
  EXPECT_THROW((void)finish_times(links, std::vector<Flow>{{{0}, -1}}), Error);
  EXPECT_THROW((void)finish_times(links, std::vector<Flow>{{{0}, 1, 0, 0}}), Error);
  EXPECT_THROW((void)fair_rates(std::vector<Link>{{0, 0}}, std::vector<Flow>{}), Error);
}

}  // namespace
}  // namespace shardlab::sim
