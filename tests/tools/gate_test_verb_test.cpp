#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "results/query.h"
#include "tests/tools/typed.h"

namespace shardlab::test {
namespace {

using Json = nlohmann::json;

class GateTestCommand : public Typed {};

// What the rates are depends on how busy the machine is, so that only their form is looked at.
TEST_F(GateTestCommand, PrintsRatesWithIntervalsAndGoalsAndStoresThem) {
  const Ended ended = type("gate-test --seconds 0 --pairs 8 --steps 2 --reports 40");
  EXPECT_LE(ended.exit, 1) << ended.err;
  for (const char* part :
       {"8 pairs a report", "the same, resampled", "5 % slower", "10 % slower",
        "the same, as recorded", "at most 1 %: ", "at least 90 %: ", "95 % interval"})
    EXPECT_TRUE(has(ended.out, part)) << part << " is not in\n" << ended.out;
  EXPECT_TRUE(has(ended.err, "stored as run 1 of shardlab.sqlite")) << ended.err;
  const auto reader = results::open_for_reading(folder_.path("shardlab.sqlite").string());
  const results::StoredRun run = results::read_run(reader, {1});
  EXPECT_EQ(run.header.series.scenario, "gate-test");
  EXPECT_EQ(run.header.series.parameters, R"({"of":"vit","pairs":8,"steps":2})")
      << "what differs from one recording to the next would make another series of each";
  ASSERT_EQ(run.rows.metrics.size(), 7U);
  EXPECT_EQ(run.rows.metrics[0].samples.size(), 8U) << "one of each pair";
  EXPECT_EQ(run.rows.metrics[1].samples.size(), 8U);
  EXPECT_EQ(run.rows.metrics[2].metric.name, "false_alarms");
  EXPECT_EQ(run.rows.metrics[5].metric.name, "found.5_percent");
  ASSERT_EQ(run.rows.uncertainties.size(), 5U);
  for (const results::Uncertainty& each : run.rows.uncertainties) EXPECT_LE(each.low, each.high);
}

TEST_F(GateTestCommand, JsonHoldsEveryRate) {
  const Ended ended = type("gate-test --seconds 0 --pairs 8 --steps 2 --reports 10 --json");
  const Json json = Json::parse(ended.out);
  EXPECT_EQ(json["pairs"], 8);
  EXPECT_EQ(json["recorded_pairs"], 8);
  ASSERT_EQ(json["resampled"].size(), 5U);
  EXPECT_EQ(json["resampled"][0]["slowdown"], 0);
  EXPECT_EQ(json["resampled"][3]["slowdown"], 0.05);
  EXPECT_EQ(json["resampled"][3]["reports"], 10);
  EXPECT_EQ(json["recorded"]["reports"], 1);
}

TEST_F(GateTestCommand, RefusesWhatIsNoTest) {
  expect("gate-test --pairs 0", 2, "--pairs: 0");
  expect("gate-test --steps 0", 2, "--steps: 0");
  expect("gate-test --reports 0", 2, "--reports: 0");
  expect("gate-test --seconds -1", 2, "--seconds: -1");
  expect("gate-test --scenario vti", 2, "did you mean 'vit'?");
  expect("gate-tset", 2, "did you mean 'gate-test'?");
}

TEST_F(GateTestCommand, RefusesABadFileBeforeItRecords) {
  std::ofstream(folder_.path("text.sqlite")) << "no database";
  const Ended ended = type("gate-test --db text.sqlite");
  EXPECT_EQ(ended.exit, 4);
  EXPECT_TRUE(has(ended.err, "text.sqlite")) << ended.err;
  EXPECT_FALSE(has(ended.err, "recording")) << ended.err;
}

}  // namespace
}  // namespace shardlab::test
