#include "tools/interleave.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "results/query.h"
#include "tests/tools/typed.h"

namespace shardlab::test {
namespace {

Measurement measured(int warmup, std::vector<std::vector<double>> ranks) {
  Measurement measurement;
  measurement.warmup = warmup;
  for (std::vector<double>& seconds : ranks)
    measurement.ranks.emplace_back().seconds = std::move(seconds);
  return measurement;
}

TEST(Blocks, KeepWarmUpInFrontAndTheSlowestRankOfEachIteration) {
  Measurement all = measured(1, {{9, 1, 2}, {8, 2, 1}});
  append_block(all, measured(1, {{7, 3, 4}, {6, 4, 5}}));
  EXPECT_EQ(all.warmup, 2);
  EXPECT_EQ(all.ranks[0].seconds, (std::vector<double>{9, 7, 1, 2, 3, 4}));
  EXPECT_EQ(all.ranks[1].seconds, (std::vector<double>{8, 6, 2, 1, 4, 5}));
  EXPECT_EQ(slowest(all), (std::vector<double>{2, 2, 4, 5}));
}

TEST(Blocks, RunInAnOrderOfTheirSeedAndRound) {
  EXPECT_EQ(shuffled(6, 1, 0), shuffled(6, 1, 0));
  std::set<std::vector<std::size_t>> orders;
  for (int round = 0; round < 20; ++round) {
    std::vector<std::size_t> order = shuffled(6, 1, round);
    orders.insert(order);
    std::ranges::sort(order);
    EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
  }
  EXPECT_GT(orders.size(), 15U);
  EXPECT_NE(shuffled(6, 1, 0), shuffled(6, 2, 0));
}

class RunInBlocks : public Typed {
 protected:
  [[nodiscard]] std::vector<results::StoredRun> stored() const {
    const results::Reader reader =
        results::open_for_reading(folder_.path("shardlab.sqlite").string());
    std::vector<results::StoredRun> runs;
    for (const results::RunInfo& each : results::list_runs(reader))
      runs.push_back(results::read_run(reader, each.id));
    std::ranges::reverse(runs);
    return runs;
  }
};

// 12 iterations are blocks of 5, 5 and 2, each behind one warm-up iteration.
TEST_F(RunInBlocks, StoresEachIterationWithItsBlock) {
  const Ended ended = type(
      "run ring_attention --preset tiny --ranks 1,2 --interleave --iterations 12 --check "
      "--seed 3");
  ASSERT_EQ(ended.exit, 0) << ended.err;
  const std::vector<results::StoredRun> runs = stored();
  ASSERT_EQ(runs.size(), 2U);
  std::set<int> orders;
  for (const results::StoredRun& run : runs) {
    EXPECT_EQ(run.status, results::RunStatus::complete);
    const auto& samples = run.rows.metrics;
    const auto seconds = std::ranges::find_if(samples, [](const results::MetricSamples& each) {
      return each.metric.name == results::step_seconds().name;
    });
    ASSERT_NE(seconds, samples.end());
    const auto ranks = static_cast<std::size_t>(results::ranks_of(run.header.series.mesh));
    EXPECT_EQ(seconds->samples.size(), (3 + 12) * ranks);
    EXPECT_EQ(std::ranges::count(seconds->samples, true, &results::Sample::warmup),
              static_cast<std::ptrdiff_t>(3 * ranks));
    const nlohmann::json state = nlohmann::json::parse(run.header.state);
    EXPECT_EQ(state.at("order_seed"), 3);
    int first = 0;
    for (const nlohmann::json& block : state.at("blocks")) {
      EXPECT_EQ(block.at("first"), first);
      first += block.at("iterations").get<int>();
      orders.insert(block.at("order").get<int>());
    }
    EXPECT_EQ(first, 12);
    EXPECT_EQ(state.at("blocks").back().at("iterations"), 2);
  }
  EXPECT_EQ(orders, (std::set<int>{0, 1, 2, 3, 4, 5}));
}

TEST_F(RunInBlocks, ARunThatFailsLeavesTheOthers) {
  const Ended ended =
      type("run vit --preset tiny --storage whole,cut --ranks 1 --interleave --iterations 6");
  EXPECT_EQ(ended.exit, 2) << ended.err;
  const std::vector<results::StoredRun> runs = stored();
  ASSERT_EQ(runs.size(), 2U);
  const bool first = runs[0].status == results::RunStatus::complete;
  EXPECT_EQ(runs[first ? 0 : 1].status, results::RunStatus::complete);
  EXPECT_EQ(runs[first ? 1 : 0].status, results::RunStatus::failed);
}

TEST_F(RunInBlocks, StateAndPrecisionAreToldAndStored) {
  const Ended ended =
      type("run ring_attention --preset tiny --ranks 1 --precision 100% --no-timeline");
  ASSERT_EQ(ended.exit, 0) << ended.err;
  EXPECT_TRUE(has(ended.err, " iterations, the median is known to ")) << ended.err;
  const nlohmann::json state = nlohmann::json::parse(stored().front().header.state);
  EXPECT_TRUE(state.contains("before") && state.contains("after") && state.contains("doubts"));
}

TEST_F(RunInBlocks, WhatCannotBeReadExitsWithTwo) {
  expect("run vit --preset tiny --precision x", 2, "--precision: expected a share");
  expect("run vit --preset tiny --budget 3h", 2, "--budget: expected a time");
  expect("run vit --preset tiny --iterations 3 --precision 1%", 2, "nothing to decide");
  expect("run vit --preset tiny --iterations -3", 2, "-3 is negative");
}

}  // namespace
}  // namespace shardlab::test
