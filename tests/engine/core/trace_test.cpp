#include "engine/core/trace.h"

#include <gtest/gtest.h>

namespace shardlab {
namespace {

TEST(Trace, IsPrintedOneStepALineWithoutTimes) {
  LayoutTable table(Mesh::parse("domain=2"));
  Layout rows(table.mesh(), 2);
  rows.set_dim(0, {{0}, table.intern(Split({0, 3, 4}))});
  Trace trace;
  trace.keep(true);
  Step step;
  step.lane = {Lane::Kind::compute, 0};
  step.op = "add";
  step.shape = {4, 2};
  step.layout = table.intern(rows);
  step.local = {3, 2};
  step.flop = 6;
  step.bytes = 72;
  step.live_bytes = 128;
  step.begin_seconds = 1.5;
  trace.append(step);
  step.kind = Step::Kind::start;
  step.lane = {Lane::Kind::comm, 1};
  step.op = "all_gather";
  step.flop = 0;
  step.axes = {0};
  step.sequence = 7;
  step.relative_peer = -1;
  trace.append(step);
  EXPECT_EQ(to_text(trace),
            "compute add float32 [4(domain: 3,1), 2] local [3, 2] flop 6 bytes 72 live 128\n"
            "comm start all_gather float32 [4(domain: 3,1), 2] local [3, 2] over domain #7 to -1 "
            "bytes 72 live 128\n");
}

TEST(Trace, ScopesNestAndAreNamedFromTheOutermost) {
  Trace trace;
  trace.keep(true);
  {
    const Scope block(trace, "block");
    EXPECT_EQ(*current_scope(trace), "block");
    const Scope norm(trace, "norm");
    EXPECT_EQ(*current_scope(trace), "block.norm");
  }
  EXPECT_EQ(current_scope(trace), nullptr);
}

TEST(Trace, ClearForgetsStepsAndTotals) {
  Trace trace;
  trace.keep(true);
  trace.append({});
  trace.totals().flop = 5;
  trace.clear();
  EXPECT_TRUE(trace.steps().empty());
  EXPECT_EQ(trace.totals().flop, 0);
}

}  // namespace
}  // namespace shardlab
