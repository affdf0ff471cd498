#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "results/scaling.h"
#include "tests/tools/typed.h"

namespace shardlab::test {
namespace {

using Json = nlohmann::json;

class PredictCommand : public Typed {};

TEST_F(PredictCommand, StoresRunsThatShowAndExplainRead) {
  const Ended predicted =
      type("predict vit --preset tiny --machine dgx-h100:2 --ranks 1,3,16 --train");
  EXPECT_EQ(predicted.exit, 0) << predicted.err;
  for (const char* part : {"predicted on dgx-h100:2 with shardlab", "domain=16: 2 domains of 8",
                           "80 % interval", "shardlab explain 3"})
    EXPECT_TRUE(has(predicted.out, part)) << part << " is not in\n" << predicted.out;
  std::istringstream lines(predicted.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120U) << line;
  EXPECT_TRUE(has(type("show").out, "~"));
  const Ended explained = type("explain 2 3");
  EXPECT_EQ(explained.exit, 0) << explained.err;
  EXPECT_TRUE(has(explained.out, "ideal: one rank, divided") && has(explained.out, "unexplained"))
      << explained.out;
  for (const Json& each : Json::parse(type("explain 3 --json").out)) {
    double sum = each["ideal_seconds"].get<double>() + each["unexplained_seconds"].get<double>();
    for (const Json& cause : each["causes"]) sum += cause["seconds"].get<double>();
    EXPECT_NEAR(sum, each["total_seconds"].get<double>(), 1e-12);
  }
}

// 3 ranks of one class receive other shares of the sums, and 2x2 ranks have groups of both axes.
TEST_F(PredictCommand, BytesOfAllRanksAreThoseThatWereMeasured) {
  for (const char* scenario : {"vit", "ring_attention"})
    for (const char* mesh : {"--ranks 2,3,4", "--mesh data=2,domain=2"})
      for (const char* train : {"", " --train"}) {
        const std::string problem =
            std::string(scenario) + " --preset tiny --no-timeline " + mesh + train;
        ASSERT_EQ(type("run " + problem + " --iterations 1").exit, 0);
        ASSERT_EQ(type("predict " + problem + " --machine dgx-h100").exit, 0);
      }
  const results::Reader reader =
      results::open_for_reading(folder_.path("shardlab.sqlite").string());
  const std::vector<results::Curve> all = results::scaling_curves(reader);
  int compared = 0;
  for (const results::Curve& curve : all)
    for (const results::CurveRow& row : curve.rows)
      for (const results::Companion& each : results::companions(curve, row, all)) {
        ++compared;
        EXPECT_EQ(*each.row->bytes_sent, *row.bytes_sent)
            << curve.series.scenario << " on " << row.mesh;
      }
  EXPECT_EQ(compared, 16);
}

TEST_F(PredictCommand, WhatLiesOutsideTheMeasuredIsLabelledHereAndWhereItIsStored) {
  // A tiny model has kernels far below every curve; its sums are of 1 KiB and less.
  const Ended predicted =
      type("predict vit --preset tiny --machine slow-ethernet --ranks 16 --train");
  for (const char* part : {"derived, extrapolated", "domain=16 extrapolated: ", "domain=16 not"})
    EXPECT_TRUE(has(predicted.out, part)) << part << " is not in\n" << predicted.out;
  const char* const stored = "derived, extrapolated, not validated";
  EXPECT_TRUE(has(type("show").out, stored)) << type("show").out;
  EXPECT_TRUE(has(type("show 1").out, stored)) << type("show 1").out;
}

TEST_F(PredictCommand, JsonHasTimeMemoryAndWhereNumbersComeFrom) {
  const Json rows =
      Json::parse(type("predict ring_attention --machine dgx-b200 --ranks 8 --json").out);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_GT(rows[0]["seconds"].get<double>(), 0);
  EXPECT_LT(rows[0]["seconds_low"].get<double>(), rows[0]["seconds"].get<double>());
  EXPECT_TRUE(rows[0]["fits"].get<bool>());
  EXPECT_GE(rows[0]["device_bytes"].get<double>(), rows[0]["engine_bytes"].get<double>());
  EXPECT_FALSE(rows[0]["weakest_source"].get<std::string>().empty());
}

TEST_F(PredictCommand, SpeedupsAreOverOneRankOfTheSameDtype) {
  const std::string out =
      type("predict ring_attention --machine dgx-h100 --ranks 1,2 --dtype float32,bfloat16").out;
  std::istringstream lines(out);
  int ones = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("domain=1 ")) {
      EXPECT_TRUE(has(line, "1.00x")) << out;
      ++ones;
    }
  EXPECT_EQ(ones, 2) << out;
}

TEST_F(PredictCommand, WeakScalingHoldsTheSizesOfARank) {
  const Ended ended =
      type("predict vit --preset tiny --machine dgx-h100 --ranks 1,2 --scaling weak");
  EXPECT_TRUE(has(ended.out, "weak scaling")) << ended.out;
  std::istringstream lines(ended.out);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("domain=2 ")) continue;
    EXPECT_TRUE(has(line, "x")) << "no speedup over one rank in\n" << ended.out;
  }
  const Json explained = Json::parse(type("explain 1 2 --json").out);
  // One rank is the ideal, whatever the number of ranks.
  EXPECT_EQ(explained[1]["ideal_seconds"], explained[0]["total_seconds"]);
}

TEST_F(PredictCommand, ExplainComparesWithTheNewestRunOnOneRank) {
  const std::string vit = "predict vit --preset tiny --machine dgx-h100 ";
  type(vit + "--ranks 1 --jitter 0.5");
  type(vit + "--ranks 1,2");
  const Json explained = Json::parse(type("explain 1 2 3 --json").out);
  EXPECT_NE(explained[0]["total_seconds"], explained[1]["total_seconds"]);
  EXPECT_EQ(explained[2]["ideal_seconds"].get<double>(),
            explained[1]["total_seconds"].get<double>() / 2);
}

TEST_F(PredictCommand, WhatDoesNotFitNamesAmountAndPart) {
  const Ended ended = type("predict vit --size 4096x4096 --machine dgx-h100 --ranks 1 --train");
  EXPECT_EQ(ended.exit, 0) << ended.err;
  EXPECT_TRUE(has(ended.out, "too much (activation)")) << ended.out;
}

TEST_F(PredictCommand, WhatIfShowsTheChangeByCause) {
  const Ended ended =
      type("predict vit --preset tiny --machine dgx-h100 --ranks 8 --what-if slow-rank=1.5x");
  EXPECT_TRUE(has(ended.out, "with slow-rank=1.5x") && has(ended.out, "imbalance")) << ended.out;
}

// Kernels do not wait for links, so that sums of other order are all that their times differ by.
TEST_F(PredictCommand, WhatIfShowsNoChangeWhereNothingChanges) {
  const std::string out =
      type(
          "predict vit --preset tiny --machine dgx-h100 --ranks 2,3,8 --train --what-if latency=2x")
          .out;
  std::istringstream lines(out.substr(out.find("with latency=2x")));
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("domain=")) continue;
    std::istringstream words(line);
    std::string mesh, step, unit, change, percent, kernels;
    words >> mesh >> step >> unit >> change >> percent >> kernels;
    EXPECT_EQ(kernels, "0") << out;
    ++rows;
  }
  EXPECT_EQ(rows, 3) << out;
}

TEST_F(PredictCommand, WhatIsWrongIsSaid) {
  expect("predict vit --ranks 2", 2, "predict needs --machine");
  expect("predict vit --machine dgx-h10 --ranks 2", 2, "did you mean 'dgx-h100'");
  expect("predict vit --machine dgx-h100:0 --ranks 2", 2, "expected a number of hosts");
  expect("predict vit --preset tiny --machine dgx-h100:1 --ranks 16", 2, "16 ranks on 8 devices");
  expect("predict vit --machine dgx-h100 --profile torch", 2, "known are shardlab");
  expect("predict vit --machine dgx-h100 --what-if speed=2x", 2, "known are bandwidth");
  expect("predict vit --machine this-cpu", 3, "shardlab probe");
  expect("reproduce vitt", 2, "did you mean 'vit'");
  expect("explain vit --at 3", 2, "no published time on so many GPUs");
}

TEST_F(PredictCommand, ReproduceComparesEveryPublishedRow) {
  const Ended ended = type("reproduce all");
  EXPECT_NE(ended.out.find("pooled median error"), std::string::npos);
  EXPECT_NE(ended.out.find("not validated: reduce_scatter"), std::string::npos);
  EXPECT_NE(ended.out.find("flagged when read"), std::string::npos);
  EXPECT_EQ(ended.exit, 0) << ended.err;
  for (const char* part : {"ring_attention.csv", "vit.csv", "validate rows", "skill", "calibrated"})
    EXPECT_TRUE(has(ended.out, part)) << part;
  EXPECT_EQ(Json::parse(type("reproduce ring_attention --json").out)[0]["rows"].size(), 64U);
}

}  // namespace
}  // namespace shardlab::test
