#include "engine/sim/explain.h"

#include <gtest/gtest.h>

#include "engine/core/error.h"

namespace shardlab::sim {
namespace {

Span kernel(double begin, double end) { return {Span::Kind::kernel, "matmul", "", 0, begin, end}; }
Span transfer(double begin, double end) {
  return {Span::Kind::transfer, "all_reduce", "c", 1, begin, end};
}
Span wait(double begin, double end) { return {Span::Kind::wait, "all_reduce", "c", 1, begin, end}; }

// Kernel 0-3, the call is posted at 3, wait 3-5, an idle second, kernel 6-8.
TEST(Breakdown, KernelsWaitsAndGapsAddUpToTheTotal) {
  const Breakdown found =
      breakdown({{0, 2, {kernel(0, 3), transfer(3, 5), wait(3, 5), kernel(6, 8)}}});
  EXPECT_DOUBLE_EQ(found.total, 8);
  EXPECT_DOUBLE_EQ(found.kernels, 5);
  EXPECT_DOUBLE_EQ(found.launch, 1);
  ASSERT_EQ(found.transfers.size(), 1U);
  EXPECT_DOUBLE_EQ(found.transfers[0].second, 2);
  EXPECT_DOUBLE_EQ(found.imbalance + found.waiting + found.rest, 0);
}

// Three ranks compute for 3 s, one for 7 s, and all end with its data at 9: 3 + 4 + 2.
TEST(Breakdown, ASlowRankIsImbalance) {
  const Breakdown found = breakdown({{0, 3, {kernel(0, 3), transfer(3, 9), wait(3, 9)}},
                                     {3, 1, {kernel(0, 7), transfer(7, 9), wait(7, 9)}}});
  EXPECT_DOUBLE_EQ(found.kernels, 3);
  EXPECT_DOUBLE_EQ(found.imbalance, 4);
  EXPECT_DOUBLE_EQ(found.transfers[0].second, 2);
  EXPECT_DOUBLE_EQ(found.waiting, 0);
  EXPECT_DOUBLE_EQ(found.total, 9);
}

TEST(Breakdown, WhatCommunicationAddsToKernelsIsNotTheirs) {
  const Breakdown found = breakdown({{0, 2, {kernel(0, 5)}, 1.5}});
  EXPECT_DOUBLE_EQ(found.kernels, 3.5);
  EXPECT_DOUBLE_EQ(found.slowed, 1.5);
  EXPECT_DOUBLE_EQ(found.rest, 0);
}

// The rank with most work comes first and waits 2 s for one that began late.
TEST(Breakdown, ALateRankWithLessWorkIsWaitedFor) {
  const Breakdown found = breakdown({{0, 3, {kernel(0, 3), transfer(3, 6), wait(3, 6)}},
                                     {3, 1, {kernel(3, 5), transfer(5, 6), wait(5, 6)}}});
  EXPECT_DOUBLE_EQ(found.imbalance, 0);
  EXPECT_DOUBLE_EQ(found.waiting, 2);
  EXPECT_DOUBLE_EQ(found.transfers[0].second, 1);
}

TEST(Breakdown, WithoutATimelineIsRefused) { EXPECT_THROW((void)breakdown({}), Error); }

// One rank: 8 s of kernels and 1 s of gaps. Two: 5 s, 1 s, 2 s of data; 9 / 2 + 1 + 0.5 + 2 = 8.
TEST(Waterfall, LeadsFromTheIdealToTheTotalAndKeepsWhatIsNotKnown) {
  Breakdown one;
  one.total = 9;
  one.kernels = 8;
  one.launch = 1;
  Breakdown two;
  two.kernels = 5;
  two.launch = 1;
  two.transfers = {{"exchange", 2}};
  two.total = 8;
  const Waterfall own = explain(one, two, 2, one.total, two.total);
  EXPECT_DOUBLE_EQ(own.ideal, 4.5);
  EXPECT_DOUBLE_EQ(own.unexplained, 0);
  EXPECT_DOUBLE_EQ(explain(one, two, 2, one.total, 9.25).unexplained, 1.25);
}

// One kernel from 2 to 5: of the 5 seconds since 0 the device was idle for 2.
TEST(Breakdown, WhatIsIdleBeforeTheFirstKernelCountsFromTheBeginThatIsSaid) {
  RankSpans rank;
  Span span;
  span.op = "kernel";
  span.begin = 2;
  span.end = 5;
  rank.spans.push_back(span);
  EXPECT_EQ(breakdown({rank}).launch, 0);
  EXPECT_EQ(breakdown({rank}).total, 3);
  EXPECT_EQ(breakdown({rank}, 0).launch, 2);
  EXPECT_EQ(breakdown({rank}, 0).total, 5);
}

}  // namespace
}  // namespace shardlab::sim
