#include "tools/predict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "engine/core/error.h"
#include "engine/sim/machines.h"
#include "scenarios/all.h"
#include "tools/executions.h"

namespace shardlab {
namespace {

const Scenarios& scenarios() {
  static const Scenarios all = [] {
    Scenarios made;
    add_all_scenarios(made);
    return made;
  }();
  return all;
}

PredictOptions on_h100() {
  PredictOptions options;
  options.machine = sim::find_machine("dgx-h100");
  options.profile = sim::find_profile("shardlab");
  return options;
}

Prediction vit_on(int ranks, const PredictOptions& options, bool train = true) {
  const Scenario& vit = scenarios().find("vit");
  Params params = vit.preset("paper");
  params.train = train;
  return predict(vit, params, Mesh({{"domain", ranks}}), options);
}

TEST(TraceRanks, EqualRanksAreTracedOnceAndUnevenOnesApart) {
  const Scenario& ring = scenarios().find("ring_attention");
  Params params = ring.preset("tiny");
  params.set("sequence", "64");
  EXPECT_EQ(trace_ranks(ring, params, Mesh({{"domain", 8}})).classes.size(), 1U);
  params.set("sequence", "66");
  const TracedRanks uneven = trace_ranks(ring, params, Mesh({{"domain", 8}}));
  EXPECT_GT(uneven.classes.size(), 1U);
  EXPECT_EQ(uneven.of_rank.size(), 8U);
  for (std::size_t c = 0; c < uneven.classes.size(); ++c)
    EXPECT_EQ(uneven.of_rank[uneven.first_rank[c]], static_cast<int>(c));
}

/// A step of a rank as text, memory and calls included.
std::string text_of(const Step& step, const Layout* layout, std::uint64_t call) {
  return std::to_string(static_cast<int>(step.kind)) + " " + step.op + " " + to_string(step.local) +
         " " + (step.scope == nullptr ? "" : *step.scope) + " flop " + std::to_string(step.flop) +
         " bytes " + std::to_string(step.bytes) + " live " + std::to_string(step.live_bytes) +
         " to " + std::to_string(step.relative_peer) + " #" + std::to_string(call) +
         (layout == nullptr ? "" : " " + to_string(*layout, step.shape));
}

void walks_what_it_would_trace(const char* name, const char* key, const char* value,
                               const char* mesh_text, std::size_t most_classes) {
  const Scenario& scenario = scenarios().find(name);
  Params params = scenario.preset("tiny");
  params.set(key, value);
  params.train = true;
  const Mesh mesh = Mesh::parse(mesh_text);
  const TracedRanks traced = trace_ranks(scenario, params, mesh);
  EXPECT_LE(traced.classes.size(), most_classes) << value;
  const std::vector<sim::RankProgram> programs = traced.programs();
  MeasureOptions options;
  options.launch.mesh = mesh;
  options.launch.precision = params.precision;
  options.launch.seed = params.seed;
  options.launch.ranks = 1;
  options.iterations = 1;
  options.timeline = true;
  for (int rank = 0; rank < mesh.size(); ++rank) {
    options.launch.first_rank = rank;
    const Measurement own = measure(meta_execution(), scenario, params, options);
    const RankMeasure& real = own.ranks.front();
    const RankMeasure& stands = traced.classes[traced.of_rank[rank]];
    EXPECT_EQ(stands.peak_bytes, real.peak_bytes) << rank;
    EXPECT_EQ(stands.at_peak, real.at_peak) << rank;
    EXPECT_EQ(stands.totals.flop, real.totals.flop) << rank;
    EXPECT_EQ(traced.bytes_received(mesh, rank), real.totals.bytes_received) << rank;
    const sim::RankProgram& program = programs[traced.program_of_rank[rank]];
    ASSERT_EQ(program.trace->length(), real.trace.steps().size()) << rank;
    std::map<std::uint32_t, std::uint64_t> started;
    sim::StepCursor cursor(program);
    for (const Step& step : real.trace.steps()) {
      const Step& walked = program.trace->steps()[cursor.at()];
      std::uint64_t call = 0;
      if (step.kind == Step::Kind::start) call = ++started[step.axes.mask()];
      if (step.kind == Step::Kind::wait) call = started[step.axes.mask()] - walked.sequence;
      ASSERT_EQ(text_of(walked, walked.layout, call), text_of(step, step.layout, step.sequence))
          << "rank " << rank;
      cursor.next();
    }
    EXPECT_TRUE(cursor.done());
  }
}

// Tokens that 64 ranks cannot share evenly, some of them with none: as long as each knows its own
// size and those of two neighbours on either side, few are traced for all.
TEST(TraceRanks, ARankOfAnUnevenRingWalksWhatItWouldHaveTraced) {
  for (const char* sequence : {"61", "65", "100"})
    walks_what_it_would_trace("ring_attention", "sequence", sequence, "domain=64", 10);
  walks_what_it_would_trace("ring_attention", "sequence", "37", "data=2,domain=5", 10);
}

TEST(TraceRanks, TooManyDifferentRanksAreRefusedInTime) {
  const Scenario& ring = scenarios().find("ring_attention");
  Params params = ring.preset("tiny");
  params.set("sequence", "66");
  try {
    (void)trace_ranks(ring, params, Mesh({{"domain", 8}}), 30);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::unsupported);
    EXPECT_NE(std::string(error.what()).find("divide evenly"), std::string::npos) << error.what();
  }
}

TEST(Predict, EngineBytesAreThoseOfARealRun) {
  const Scenario& vit = scenarios().find("vit");
  Params params = vit.preset("tiny");
  params.train = true;
  for (const char* mesh : {"domain=1", "domain=3", "data=2,domain=2"}) {
    MeasureOptions options;
    options.launch.mesh = Mesh::parse(mesh);
    options.iterations = 1;
    const Measurement real = measure(cpu_execution(), vit, params, options);
    const Prediction predicted = predict(vit, params, options.launch.mesh, on_h100());
    for (std::size_t rank = 0; rank < real.ranks.size(); ++rank) {
      const RankMeasure& traced = predicted.traced->classes[predicted.traced->of_rank[rank]];
      EXPECT_EQ(traced.peak_bytes, real.ranks[rank].peak_bytes) << mesh << " rank " << rank;
      EXPECT_EQ(predicted.traced->bytes_received(options.launch.mesh, static_cast<int>(rank)),
                real.ranks[rank].totals.bytes_received)
          << mesh << " rank " << rank;
      EXPECT_EQ(traced.totals.flop, real.ranks[rank].totals.flop) << mesh;
    }
  }
}

TEST(Predict, SixteenThousandRanksFoldIntoOneClass) {
  const Scenario& vit = scenarios().find("vit");
  Params params = vit.preset("paper");
  params.train = true;
  params.set("batch", "1024");
  const Mesh mesh({{"data", 1024}, {"domain", 16}});
  const Prediction predicted = predict(vit, params, mesh, on_h100());
  EXPECT_EQ(predicted.traced->classes.size(), 1U);
  EXPECT_LE(predicted.simulated.timelines.size(), 8U);
  // Each rank does what it does on 16, and the sum of gradients is hidden or small.
  const double small = vit_on(16, on_h100()).simulated.seconds;
  EXPECT_NEAR(predicted.simulated.seconds / small, 1, 0.2);
}

double seconds_of(const sim::Waterfall& waterfall, const std::string& part) {
  double seconds = 0;
  for (const sim::Cause& cause : waterfall.causes)
    if (cause.name.find(part) != std::string::npos) seconds += cause.seconds;
  return seconds;
}

sim::Waterfall explained(const PredictOptions& options, int ranks) {
  const sim::Breakdown one = sim::breakdown(spans_of(vit_on(1, on_h100()).simulated));
  const sim::Breakdown many = sim::breakdown(spans_of(vit_on(ranks, options).simulated));
  return sim::explain(one, many, ranks, one.total, many.total);
}

/// How much of what a planted cause adds to the time lands on its line.
double landed(const sim::WhatIf& planted, const std::string& line) {
  PredictOptions options = on_h100();
  const sim::Waterfall before = explained(options, 8);
  options.what_if = planted;
  const sim::Waterfall after = explained(options, 8);
  EXPECT_GT(after.total, before.total);
  return (seconds_of(after, line) - seconds_of(before, line)) / (after.total - before.total);
}

TEST(Explain, PlantedCausesLandOnTheirOwnLines) {
  sim::WhatIf slow;
  slow.slow_rank = 1.2;
  EXPECT_GE(landed(slow, "imbalance"), 0.9);
  sim::WhatIf narrow;
  narrow.bandwidth = 0.5;
  EXPECT_GE(landed(narrow, "communication"), 0.9);
  sim::WhatIf host;
  host.launch = 20e-6;
  EXPECT_GE(landed(host, "launch"), 0.9);
}

TEST(Explain, OwnPredictionsLeaveNothingUnexplained) {
  const sim::Waterfall waterfall = explained(on_h100(), 8);
  EXPECT_LT(std::abs(waterfall.unexplained), 1e-9 * waterfall.total);
}

}  // namespace
}  // namespace shardlab
