#include "engine/sim/folded_trace.h"

#include <gtest/gtest.h>

#include "engine/core/error.h"
#include "tests/engine/sim/uneven_ring.h"

namespace shardlab::sim {
namespace {

/// The steps of a program as text, calls numbered as a rank would.
std::vector<std::string> walked(const RankProgram& program) {
  std::vector<std::string> steps;
  std::uint64_t started = 0;
  for (StepCursor cursor(program); !cursor.done(); cursor.next()) {
    const Step& step = program.trace->steps()[cursor.at()];
    if (step.kind == Step::Kind::start) ++started;
    const std::uint64_t call = step.kind == Step::Kind::kernel  ? 0
                               : step.kind == Step::Kind::start ? started
                                                                : started - step.sequence;
    steps.push_back(std::string(step.op) + " " + std::to_string(step.flop) + " " +
                    std::to_string(step.bytes) + " #" + std::to_string(call));
  }
  return steps;
}

std::vector<std::string> traced(const Trace& trace) {
  std::vector<std::string> steps;
  for (const Step& step : trace.steps())
    steps.push_back(std::string(step.op) + " " + std::to_string(step.flop) + " " +
                    std::to_string(step.bytes) + " #" + std::to_string(step.sequence));
  return steps;
}

TEST(FoldedTrace, WithoutRingsEveryStepIsKept) {
  TraceWriter trace;
  trace.kernel(2).start({0}, 6).start({0}, 7).kernel(4).wait({0}, 1).wait({0}, 2);
  const FoldedTrace folded(*trace.get());
  EXPECT_EQ(folded.length(), 6U);
  EXPECT_EQ(walked({&folded, nullptr}), traced(*trace.get()));
  // Waits look back: one call has been started after the first, none after the second.
  EXPECT_EQ(folded.steps()[4].sequence, 1U);
  EXPECT_EQ(folded.steps()[5].sequence, 0U);
}

// Every rank of a ring of three sizes of block, some empty, walks what it would have traced; the
// ranks that are traced for all of them are few.
TEST(FoldedTrace, ARankOfAnUnevenRingWalksWhatItWouldHaveTraced) {
  const std::vector<std::int64_t> pattern{3, 3, 3, 3, 5, 5, 5, 0, 0, 0, 0, 0};
  std::vector<std::int64_t> sizes;
  for (int rank = 0; rank < 64; ++rank) sizes.push_back(pattern[(rank * rank / 64) % 12]);
  const UnevenRing ring(sizes);
  EXPECT_LT(ring.traced(), 40U);
  const std::vector<RankProgram> programs = ring.programs();
  for (int rank = 0; rank < 64; ++rank)
    EXPECT_EQ(walked(programs[rank]), traced(*ring.trace_of(rank).get())) << rank;
}

// 16 turns of 4 steps each: first, second, last and those between are 4 kinds, so 16 steps stay,
// and the 3 steps around them.
TEST(FoldedTrace, AnEvenRingKeepsItsKindsOfTurnsOnly) {
  const UnevenRing ring(std::vector<std::int64_t>(16, 2));
  EXPECT_EQ(ring.traced(), 1U);
  const RankProgram program = ring.programs().front();
  EXPECT_EQ(program.trace->length(), 16U * 4 + 3);
  EXPECT_EQ(program.trace->steps().size(), 4U * 4 + 3);
}

TEST(FoldedTrace, TurnsThatDifferThoughTheirAnswersDoNotAreCaught) {
  TraceWriter trace;
  trace.turn(0).kernel(1).turn(1).kernel(2).turn(-1);
  const TurnOrders alike{{0, 0}};
  EXPECT_THROW(FoldedTrace(*trace.get(), alike), Error);
  const TurnOrders apart{{0, 1}};
  const FoldedTrace folded(*trace.get(), apart);
  EXPECT_EQ(walked({&folded, &apart}), traced(*trace.get()));
}

TEST(FoldedTrace, AWaitForACallThatNeverStartedIsRefused) {
  TraceWriter trace;
  trace.start({0}, 1).wait({0}, 2);
  EXPECT_THROW(FoldedTrace(*trace.get()), Error);
}

}  // namespace
}  // namespace shardlab::sim
