#include "results/json.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "tests/results/fixture.h"

namespace shardlab::results {
namespace {

TEST(Json, OfARunHoldsWhatTheRunHolds) {
  StoredRun run;
  run.id = {3};
  run.uuid = "u";
  run.status = RunStatus::complete;
  run.header = header_of("<script> \"x\"\n\xff", "data=2,domain=3");
  run.header.state = "{";
  run.rows.metrics = {samples_of(step_seconds(), 1, 2, 0.1), {loss(), {}}};
  run.rows.checks = {{"a", std::numeric_limits<double>::quiet_NaN(), 1},
                     {"b", std::numeric_limits<double>::infinity(), 1},
                     {"c", 0.5, 1}};
  run.rows.uncertainties = {{step_seconds(), 1, 2, 0.8, "sheet"}};
  run.rows.folds = {{0, 6, "0-5"}};
  const auto json = nlohmann::json::parse(to_json(run));
  EXPECT_EQ(json["id"], 3);
  EXPECT_EQ(json["status"], "complete");
  EXPECT_EQ(json["series"]["scenario"], "<script> \"x\"\n\xef\xbf\xbd");
  EXPECT_EQ(json["series"]["parameters"], nlohmann::json::object());
  EXPECT_EQ(json["series"]["ranks"], 6);
  EXPECT_EQ(json["environment"]["processor"], "test CPU");
  EXPECT_EQ(json["environment_hash"], hash_of(run.header.environment));
  EXPECT_EQ(json["state"], "{");
  EXPECT_EQ(json["metrics"][0]["name"], "step_seconds");
  EXPECT_EQ(json["metrics"][0]["samples"][1]["rank"], 1);
  EXPECT_EQ(json["metrics"][0]["samples"][0]["value"], 0.1);
  EXPECT_EQ(json["metrics"][1]["samples"], nlohmann::json::array());
  EXPECT_TRUE(json["checks"][0]["error"].is_null());
  EXPECT_TRUE(json["checks"][1]["error"].is_null());
  EXPECT_EQ(json["checks"][2]["passed"], true);
  EXPECT_EQ(json["uncertainties"][0]["source"], "sheet");
  EXPECT_EQ(json["folds"][0]["members"], "0-5");
}

}  // namespace
}  // namespace shardlab::results
