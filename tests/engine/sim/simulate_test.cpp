#include "engine/sim/simulate.h"

#include <gtest/gtest.h>

#include <numeric>

#include "engine/core/error.h"
#include "tests/engine/sim/uneven_ring.h"

namespace shardlab::sim {
namespace {

Simulated run_alike(const Mesh& mesh, const Trace* trace, const Prices& prices,
                    const Stragglers& stragglers = {}, int domain = 64) {
  const std::vector<int> all_alike(static_cast<std::size_t>(mesh.size()), 0);
  // Steps point into traces that are gone: only their times are read.
  return simulate(Placement(mesh, domain), all_alike, Programs({trace}).get(), prices, stragglers);
}

Simulated run_each(const Mesh& mesh, const std::vector<TraceWriter>& traces, const Prices& prices,
                   int domain = 64) {
  std::vector<int> classes(traces.size());
  std::iota(classes.begin(), classes.end(), 0);
  std::vector<const Trace*> pointers;
  for (const TraceWriter& trace : traces) pointers.push_back(trace.get());
  return simulate(Placement(mesh, domain), classes, Programs(pointers).get(), prices);
}

TEST(Simulate, KernelsFollowOneAnother) {
  TraceWriter trace;
  trace.kernel(3).kernel(4);
  const Simulated simulated = run_alike(Mesh({{"domain", 1}}), trace.get(), WrittenPrices());
  EXPECT_DOUBLE_EQ(simulated.seconds, 7);
  EXPECT_DOUBLE_EQ(simulated.timelines[0].steps[1].begin_seconds, 3);
  EXPECT_DOUBLE_EQ(simulated.timelines[0].steps[1].end_seconds, 7);
}

// The host issues kernel i at 2 (i + 1); kernels of 1 s wait for it: 2-3, 4-5, 6-7.
TEST(Simulate, ASlowHostLeavesTheDeviceIdle) {
  TraceWriter trace;
  trace.kernel(1).kernel(1).kernel(1);
  WrittenPrices prices;
  prices.issue_seconds = 2;
  const Simulated simulated = run_alike(Mesh({{"domain", 1}}), trace.get(), prices);
  EXPECT_DOUBLE_EQ(simulated.seconds, 7);
  EXPECT_DOUBLE_EQ(simulated.timelines[0].launch_seconds, 4);
}

// Kernels of 5 s hide an issue cost of 2 s but for the first.
TEST(Simulate, AFastHostRunsAhead) {
  TraceWriter trace;
  trace.kernel(5).kernel(5);
  WrittenPrices prices;
  prices.issue_seconds = 2;
  EXPECT_DOUBLE_EQ(run_alike(Mesh({{"domain", 1}}), trace.get(), prices).seconds, 12);
}

// On cpu each of the 2 kernels costs 2 s to issue and 5 s to run, one after the other.
TEST(Simulate, AHostThatComputesPaysBoth) {
  TraceWriter trace;
  trace.kernel(5).kernel(5);
  WrittenPrices prices;
  prices.issue_seconds = 2;
  prices.host = true;
  EXPECT_DOUBLE_EQ(run_alike(Mesh({{"domain", 1}}), trace.get(), prices).seconds, 14);
}

// The call runs 2-8 beside the kernel 2-6; the wait is exposed for 2 s, all of them transfer.
TEST(Simulate, ACallRunsBesideKernelsUntilItsWait) {
  TraceWriter trace;
  trace.kernel(2).start({0}, 6).kernel(4).wait({0}, 1).kernel(1);
  const Simulated simulated = run_alike(Mesh({{"domain", 2}}), trace.get(), WrittenPrices());
  EXPECT_DOUBLE_EQ(simulated.seconds, 9);
  ASSERT_EQ(simulated.timelines.size(), 1U);
  ASSERT_EQ(simulated.timelines[0].waits.size(), 1U);
  EXPECT_DOUBLE_EQ(simulated.timelines[0].waits[0].transfer_seconds, 2);
  EXPECT_DOUBLE_EQ(simulated.timelines[0].waits[0].late_seconds, 0);
}

// The rank itself moves the data when it waits: 2 + 4 + 6 + 1.
TEST(Simulate, ACallThatGoesOnAtItsWaitIsNotHidden) {
  TraceWriter trace;
  trace.kernel(2).start({0}, 6).kernel(4).wait({0}, 1).kernel(1);
  WrittenPrices prices;
  prices.how = Progress::at_wait;
  prices.host = true;
  EXPECT_DOUBLE_EQ(run_alike(Mesh({{"domain", 2}}), trace.get(), prices).seconds, 13);
}

// A call that is waited for last does not hold up one that was started after it: 3 + 5.
TEST(Simulate, CallsThatGoOnAtTheirWaitMayBeWaitedForInAnyOrder) {
  TraceWriter trace;
  trace.start({0}, 5).start({0}, 3).wait({0}, 2).wait({0}, 1);
  WrittenPrices prices;
  prices.how = Progress::at_wait;
  prices.host = true;
  const Simulated simulated = run_alike(Mesh({{"domain", 2}}), trace.get(), prices);
  EXPECT_DOUBLE_EQ(simulated.timelines[0].steps[2].end_seconds, 3);
  EXPECT_DOUBLE_EQ(simulated.seconds, 8);
}

/// Exchanges are moved by the rank itself, sums on the lane beside kernels.
class MixedPrices final : public WrittenPrices {
 public:
  [[nodiscard]] Progress progress(const Step& start) const override {
    return start.relative_peer != 0 ? Progress::at_wait : Progress::beside;
  }
};

// The sum, started after an exchange that nobody waits for yet, runs 0-4 all the same; then the
// exchange is moved for 3 s.
TEST(Simulate, ASumDoesNotQueueBehindWhatARankMovesItself) {
  TraceWriter trace;
  trace.start({0}, 3, 1).start({0}, 4).wait({0}, 2).wait({0}, 1);
  const Simulated simulated = run_alike(Mesh({{"domain", 2}}), trace.get(), MixedPrices());
  EXPECT_DOUBLE_EQ(simulated.timelines[0].steps[2].end_seconds, 4);
  EXPECT_DOUBLE_EQ(simulated.seconds, 7);
}

// The whole kernel of 4 s lies beside the call of 6 s: it takes 4 x 1.5 s.
TEST(Simulate, AKernelBesideACallIsSlowed) {
  TraceWriter trace;
  trace.start({0}, 6).kernel(4).wait({0}, 1);
  WrittenPrices prices;
  prices.beside = 1.5;
  const Simulated simulated = run_alike(Mesh({{"domain", 2}}), trace.get(), prices);
  EXPECT_DOUBLE_EQ(simulated.timelines[0].steps[1].end_seconds, 6);
  EXPECT_DOUBLE_EQ(simulated.timelines[0].slowed_seconds, 2);
}

// Rank 0 posts at 1, rank 1 at 5: the call of 2 s ends at 7; rank 0 waits 4 s for its peer and 2 s
// for data.
TEST(Simulate, AnEarlyRankWaitsForALateOne) {
  std::vector<TraceWriter> traces(2);
  traces[0].kernel(1).start({0}, 2).wait({0}, 1);
  traces[1].kernel(5).start({0}, 2).wait({0}, 1);
  const Simulated simulated = run_each(Mesh({{"domain", 2}}), traces, WrittenPrices());
  EXPECT_DOUBLE_EQ(simulated.seconds, 7);
  EXPECT_DOUBLE_EQ(simulated.timelines[0].waits[0].late_seconds, 4);
  EXPECT_DOUBLE_EQ(simulated.timelines[0].waits[0].transfer_seconds, 2);
  EXPECT_DOUBLE_EQ(simulated.timelines[1].waits[0].late_seconds, 0);
}

// Calls of one communicator queue: 0-3 and 3-6. Those of two run side by side, here one in the
// domains of 2 and one between them: 0-3 and 0-3.
TEST(Simulate, CallsOfOneCommunicatorQueueAndOthersDoNot) {
  const Mesh mesh({{"data", 2}, {"domain", 2}});
  TraceWriter queued;
  queued.start({0}, 3).start({0}, 3).wait({0}, 1).wait({0}, 2);
  EXPECT_DOUBLE_EQ(run_alike(mesh, queued.get(), WrittenPrices()).seconds, 6);
  TraceWriter beside;
  beside.start({0}, 3).start({1}, 3).wait({0}, 1).wait({1}, 1);
  EXPECT_DOUBLE_EQ(run_alike(mesh, beside.get(), WrittenPrices(), {}, 2).seconds, 3);
}

TEST(Simulate, ACallThatOneMemberNeverStartsIsNamed) {
  std::vector<TraceWriter> traces(2);
  traces[0].start({0}, 2).wait({0}, 1);
  traces[1].kernel(5);
  try {
    (void)run_each(Mesh({{"domain", 2}}), traces, WrittenPrices());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::invalid);
    EXPECT_NE(std::string(error.what()).find("number 1 never has all its members"),
              std::string::npos)
        << error.what();
  }
}

/// Times of all ranks, folded or with every rank for itself.
std::vector<double> times(const Mesh& mesh, const std::vector<TraceWriter>& traces,
                          const std::vector<int>& trace_class, const Prices& prices, int domain,
                          bool folded) {
  std::vector<const Trace*> pointers;
  for (const TraceWriter& trace : traces) pointers.push_back(trace.get());
  Stragglers apart;
  if (!folded)
    for (int rank = 0; rank < mesh.size(); ++rank) apart.slowdown[rank] = 1;
  const Simulated simulated =
      simulate(Placement(mesh, domain), trace_class, Programs(pointers).get(), prices, apart);
  EXPECT_EQ(folded, simulated.timelines.size() < static_cast<std::size_t>(mesh.size()));
  std::vector<double> seconds;
  for (int rank = 0; rank < mesh.size(); ++rank)
    seconds.push_back(simulated.timelines[simulated.classes.of_rank[rank]].seconds);
  return seconds;
}

void fold_equals_unfold(const Mesh& mesh, const std::vector<TraceWriter>& traces,
                        const std::vector<int>& trace_class, int domain, std::size_t classes) {
  WrittenPrices prices;
  prices.network = 7;
  prices.beside = 1.25;
  prices.issue_seconds = 0.5;
  for (const Progress how : {Progress::beside, Progress::at_wait}) {
    prices.how = how;
    prices.host = how == Progress::at_wait;
    const std::vector<double> folded = times(mesh, traces, trace_class, prices, domain, true);
    EXPECT_EQ(folded, times(mesh, traces, trace_class, prices, domain, false));
  }
  std::vector<const Trace*> pointers;
  for (const TraceWriter& trace : traces) pointers.push_back(trace.get());
  EXPECT_EQ(time_classes(Placement(mesh, domain), trace_class, Programs(pointers).get())
                .representative.size(),
            classes);
}

/// Six steps around a ring, each hidden behind a kernel, then a sum over both axes.
TraceWriter ring_step(std::int64_t first_kernel = 2) {
  TraceWriter trace;
  trace.kernel(first_kernel);
  for (std::uint64_t i = 1; i <= 6; ++i) trace.start({1}, 3, 1).kernel(4).wait({1}, i);
  return std::move(trace.start({0, 1}, 10).kernel(1).wait({0, 1}, 1));
}

std::vector<int> none_differ(int ranks) {
  return std::vector<int>(static_cast<std::size_t>(ranks));
}

TEST(FoldedEqualsUnfolded, ARingWithinOneDomain) {
  const Mesh mesh({{"data", 1}, {"domain", 64}});
  fold_equals_unfold(mesh, {ring_step()}, none_differ(64), 64, 1);
}

// A ring over domains of 8: ranks are alike where they lie equally far from the ends of their
// domain, since a call ends with the later of what is sent and what is received.
TEST(FoldedEqualsUnfolded, ARingOverDomainsOfEightHasFourClasses) {
  const Mesh mesh({{"data", 1}, {"domain", 64}});
  fold_equals_unfold(mesh, {ring_step()}, none_differ(64), 8, 4);
}

TEST(FoldedEqualsUnfolded, DataTimesDomain) {
  const Mesh mesh({{"data", 8}, {"domain", 8}});
  fold_equals_unfold(mesh, {ring_step()}, none_differ(64), 8, 1);
}

// A line: the ends send one way only. Each trace names what it does; distance from the ends tells
// 32 classes of 64 ranks apart.
TEST(FoldedEqualsUnfolded, ALineOfNeighbours) {
  const Mesh mesh({{"data", 1}, {"domain", 64}});
  std::vector<TraceWriter> traces(2);
  for (TraceWriter& trace : traces) {
    trace.kernel(&trace == traces.data() ? 9 : 3);
    for (std::uint64_t i = 1; i <= 4; ++i) trace.start({1}, 2, 1).kernel(1).wait({1}, i);
  }
  std::vector<int> ends(64, 1);
  ends.front() = ends.back() = 0;
  fold_equals_unfold(mesh, traces, ends, 64, 32);
}

// Two sizes of block, 4 ranks with the bigger one; what a rank sees depends on how far they are.
TEST(FoldedEqualsUnfolded, UnevenBlocks) {
  const Mesh mesh({{"data", 4}, {"domain", 16}});
  std::vector<int> bigger(64, 0);
  for (int rank = 0; rank < 64; ++rank) bigger[rank] = rank % 16 < 4 ? 1 : 0;
  // Distance to the run of four on a ring of 16: 4 places in it and 12 outside, mirrored.
  fold_equals_unfold(mesh, {ring_step(2), ring_step(5)}, bigger, 64, 8);
}

// Work grows with the position as under a causal mask: every position is its own class.
TEST(FoldedEqualsUnfolded, WorkThatGrowsAlongTheRing) {
  const Mesh mesh({{"data", 4}, {"domain", 16}});
  std::vector<TraceWriter> traces;
  std::vector<int> position(64);
  for (int i = 0; i < 16; ++i) traces.push_back(ring_step(1 + i));
  for (int rank = 0; rank < 64; ++rank) position[rank] = rank % 16;
  fold_equals_unfold(mesh, traces, position, 16, 16);
}

/// Times of an uneven ring, from programs that share turns and from every rank's own trace.
void rotated_equals_traced(const std::vector<std::int64_t>& sizes, int domain) {
  const UnevenRing ring(sizes);
  std::vector<TraceWriter> traces;
  std::vector<const Trace*> pointers;
  for (int rank = 0; rank < ring.ranks(); ++rank) {
    traces.push_back(ring.trace_of(rank));
    pointers.push_back(traces.back().get());
  }
  const Programs own(pointers);
  std::vector<int> apart(sizes.size());
  std::iota(apart.begin(), apart.end(), 0);
  WrittenPrices prices;
  prices.network = 7;
  prices.latency = 0.25;
  prices.beside = 1.25;
  prices.issue_seconds = 0.5;
  for (const Progress how : {Progress::beside, Progress::at_wait}) {
    prices.how = how;
    prices.host = how == Progress::at_wait;
    const Placement placement(ring.mesh(), domain);
    const std::vector<RankProgram> programs = ring.programs();
    const Simulated rotated = simulate(placement, apart, programs, prices);
    const Simulated traced = simulate(placement, apart, own.get(), prices);
    ASSERT_EQ(rotated.timelines.size(), sizes.size());
    for (std::size_t rank = 0; rank < sizes.size(); ++rank)
      EXPECT_EQ(rotated.timelines[rank].seconds, traced.timelines[rank].seconds) << rank;
  }
}

std::vector<std::int64_t> even_sizes(std::int64_t rows) { return Split::even(rows, 64).sizes(); }

TEST(FoldedEqualsUnfolded, UnevenRingsOfSixtyFour) {
  for (const std::int64_t rows : {61, 65, 100})
    for (const int domain : {8, 64}) rotated_equals_traced(even_sizes(rows), domain);
}

TEST(FoldedEqualsUnfolded, RingsOfThreeSizes) {
  std::vector<std::int64_t> sizes(64, 3);
  for (int rank = 20; rank < 40; ++rank) sizes[rank] = 5;
  for (int rank = 50; rank < 64; ++rank) sizes[rank] = 0;
  rotated_equals_traced(sizes, 8);
  for (int rank = 0; rank < 64; ++rank) sizes[rank] = rank % 4 == 3 ? 0 : rank % 4 + 1;
  rotated_equals_traced(sizes, 64);
}

// Ranks with as many blocks behind them as before are not alike: a ring has a direction.
TEST(FoldedEqualsUnfolded, AnUnevenRingHasATraceForEachNeighbourhoodAndAnOrderForEachRank) {
  // One rank of 64 is larger. Blocks up to 2 away tell apart: itself, 2 before, 2 behind, the rest.
  std::vector<std::int64_t> sizes(64, 1);
  sizes[30] = 2;
  EXPECT_EQ(UnevenRing(sizes).traced(), 6U);
}

TEST(Simulate, StepsAreKeptForOneClassOfATraceAndSumsForAll) {
  const Mesh mesh({{"data", 1}, {"domain", 64}});
  const TraceWriter trace = ring_step();
  const Programs programs({trace.get()});
  const Placement placement(mesh, 8);
  const std::vector<int> alike = none_differ(64);
  const WrittenPrices prices;
  const Simulated all = simulate(placement, alike, programs.get(), prices);
  const Simulated few = simulate(placement, alike, programs.get(), prices, {}, 1);
  ASSERT_EQ(all.timelines.size(), few.timelines.size());
  EXPECT_TRUE(few.timelines[0].kept);
  EXPECT_FALSE(few.timelines[1].kept);
  EXPECT_TRUE(few.timelines[1].steps.empty());
  EXPECT_EQ(few.timelines[1].seconds, all.timelines[1].seconds);
  EXPECT_EQ(few.timelines[1].transfer_seconds, all.timelines[1].transfer_seconds);
  EXPECT_EQ(few.slowest().rank, 0);
}

// 21 steps a class, four classes.
TEST(Simulate, TooManyStepsAreRefusedInTime) {
  const TraceWriter trace = ring_step();
  const Programs programs({trace.get()});
  try {
    (void)simulate(Placement(Mesh({{"data", 1}, {"domain", 64}}), 8), none_differ(64),
                   programs.get(), WrittenPrices(), {}, 1000, 80);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::unsupported);
    EXPECT_NE(std::string(error.what()).find("4 time classes of 64 ranks take 88 steps"),
              std::string::npos)
        << error.what();
  }
}

// One slow rank of a ring: all end with it.
TEST(Simulate, ASlowRankHoldsUpAllAndIsItsOwnClass) {
  const Mesh mesh({{"data", 1}, {"domain", 8}});
  const TraceWriter trace = ring_step();
  Stragglers slow;
  slow.slowdown[3] = 1.5;
  const Simulated alike = run_alike(mesh, trace.get(), WrittenPrices());
  const Simulated one = run_alike(mesh, trace.get(), WrittenPrices(), slow);
  // 26 s of kernels become 39 on rank 3; the last kernel of 1 s is hidden by a sum of 10.
  EXPECT_DOUBLE_EQ(alike.seconds, 2 + 6 * 4 + 10);
  EXPECT_DOUBLE_EQ(one.seconds, (2 + 6 * 4) * 1.5 + 10);
  EXPECT_EQ(one.timelines[one.classes.of_rank[3]].members, 1);
}

TEST(Simulate, JitterUnfoldsAndRepeats) {
  const Mesh mesh({{"data", 1}, {"domain", 16}});
  const TraceWriter trace = ring_step();
  Stragglers noisy;
  noisy.jitter = 0.1;
  const Simulated once = run_alike(mesh, trace.get(), WrittenPrices(), noisy);
  EXPECT_EQ(once.timelines.size(), 16U);
  EXPECT_DOUBLE_EQ(once.seconds, run_alike(mesh, trace.get(), WrittenPrices(), noisy).seconds);
  noisy.seed = 2;
  EXPECT_NE(once.seconds, run_alike(mesh, trace.get(), WrittenPrices(), noisy).seconds);
  EXPECT_GT(once.seconds, run_alike(mesh, trace.get(), WrittenPrices()).seconds);
}

TEST(Simulate, ASlowRankThatIsNotThereIsRefused) {
  Stragglers slow;
  slow.slowdown[8] = 1.5;
  EXPECT_THROW((void)run_alike(Mesh({{"domain", 8}}), ring_step().get(), WrittenPrices(), slow),
               Error);
}

}  // namespace
}  // namespace shardlab::sim
