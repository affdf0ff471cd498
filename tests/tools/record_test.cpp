#include "tools/record.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/core/layout.h"
#include "scenarios/all.h"

namespace shardlab::test {
namespace {

nlohmann::json parameters_with(const std::map<std::string, std::string>& values) {
  Scenarios scenarios;
  add_all_scenarios(scenarios);
  Request request;
  request.names = {"vit"};
  request.meshes = {Mesh({{"domain", 1}})};
  request.values = values;
  const std::vector<Case> cases = sweep(scenarios, request);
  return nlohmann::json::parse(header_of(cases[0], "cpu", request).series.parameters);
}

TEST(Record, SwitchesThatAreOffKeepTheSeriesOfRunsFromBeforeThem) {
  EXPECT_EQ(parameters_with({}),
            nlohmann::json::parse(
                R"({"batch":"1","channels":"3","classes":"1000","depth":"8","heads":"6",
                    "learning-rate":"0.001","mlp-ratio":"4","patch":"16","size":"512x512",
                    "weight-decay":"0.05","width":"384"})"));
  const nlohmann::json on = parameters_with({{"checkpoint", "blocks"}, {"storage", "sharded"}});
  EXPECT_EQ(on.at("checkpoint"), "blocks");
  EXPECT_EQ(on.at("storage"), "sharded");
}

std::optional<StoredCall> named(const char* detail) {
  results::Step step;
  step.detail = detail;
  return call_of(step);
}

TEST(StoredCalls, ADetailEndsInTheAxesAndTheNumber) {
  const std::optional<StoredCall> call = named("[8(domain: 2x4), 3] over data+domain #12");
  ASSERT_TRUE(call.has_value());
  EXPECT_EQ(call->axes, "data+domain");
  EXPECT_EQ(call->number, 12U);
}

TEST(StoredCalls, AnOlderOrOtherDetailNamesNone) {
  for (const char* detail : {"", "[8, 3]", "[8, 3] over data", "[8] #3", "[8] over data #",
                             "[8] over data #3x", "[8] over data #0", "#3 over data"})
    EXPECT_FALSE(named(detail).has_value()) << detail;
}

// Two calls under way at once whose waits come in the other order.
TEST(StoredCalls, AStartAndItsWaitAreStoredWithOneDetail) {
  const Mesh mesh({{"data", 2}, {"domain", 2}});
  const Layout layout(mesh, 1);
  Measurement measurement;
  RankMeasure& rank = measurement.ranks.emplace_back();
  const auto append = [&](Step::Kind kind, std::uint64_t number) {
    Step step;
    step.kind = kind;
    step.lane.kind = Lane::Kind::comm;
    step.op = "all_reduce";
    step.shape = {4};
    step.layout = &layout;
    step.axes = {0, 1};
    step.sequence = number;
    rank.trace.append(step);
  };
  append(Step::Kind::start, 1);
  append(Step::Kind::start, 2);
  append(Step::Kind::wait, 2);
  append(Step::Kind::wait, 1);
  const results::Timeline timeline = timeline_of(measurement, mesh);
  ASSERT_EQ(timeline.steps.size(), 4U);
  EXPECT_EQ(timeline.steps[0].detail, timeline.steps[3].detail);
  EXPECT_EQ(timeline.steps[1].detail, timeline.steps[2].detail);
  EXPECT_EQ(call_of(timeline.steps[1])->number, 2U);
  EXPECT_EQ(call_of(timeline.steps[1])->axes, "data+domain");
}

}  // namespace
}  // namespace shardlab::test
