#include "tools/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/core/error.h"
#include "engine/sim/machines.h"
#include "scenarios/all.h"
#include "tests/tools/typed.h"

namespace shardlab::test {
namespace {

using Json = nlohmann::json;

class PlanCommand : public Typed {
 protected:
  Json plans_of(const std::string& words) {
    const Ended ended = type("plan " + words + " --json");
    EXPECT_EQ(ended.exit, 0) << words << "\n" << ended.err;
    return Json::parse(ended.out)[0]["plans"];
  }

  static std::string key_of(const Json& plan) {
    std::string key;
    for (const char* name : {"mesh", "dtype", "storage", "checkpoint", "offload"})
      key += plan.value(name, "") + " ";
    return key;
  }

  static void expect_at_most_120_columns(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("next")) continue;  // A command is one line however long.
      EXPECT_LE(line.size(), 120U) << line;
    }
  }
};

TEST_F(PlanCommand, PlansThatFitComeFirstAndTheFastestOfThem) {
  const Json rows = plans_of(
      "vit --size 2048x2048 --batch 4 --machine dgx-h100 --max-ranks 16 --memory 30GiB "
      "--train");
  double before = 0;
  int refused = 0;
  for (const Json& row : rows) {
    if (!row["fits"].get<bool>()) {
      EXPECT_FALSE(row["reason"].get<std::string>().empty());
      ++refused;
      continue;
    }
    EXPECT_EQ(refused, 0) << "those that fit come first";
    EXPECT_GE(row["seconds"].get<double>(), before);
    EXPECT_LE(row["device_bytes"].get<double>(), 30 * 0x1p30);
    before = row["seconds"].get<double>();
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(before, 0);
}

// Up to 4 ranks: domain 1, 2, 4, data 2, 4 and data 2 with domain 2. One rank has one storage, the
// five others two; each has two dtypes and two ways to checkpoint: (1 + 5 x 2) x 2 x 2 = 44.
TEST_F(PlanCommand, EverySwitchOfTheScenarioIsSearched) {
  const Json rows =
      plans_of("vit --preset tiny --batch 4 --machine dgx-h100 --max-ranks 4 --train");
  EXPECT_EQ(rows.size(), 44U);
  std::map<std::string, int> seen;
  for (const Json& row : rows) ++seen[key_of(row)];
  for (const auto& [key, times] : seen) EXPECT_EQ(times, 1) << key;
}

TEST_F(PlanCommand, WhatIsTypedIsNotSearched) {
  const std::string vit = "vit --preset tiny --batch 4 --machine dgx-h100 --max-ranks 4 --train ";
  for (const Json& row : plans_of(vit + "--dtype float64 --storage sharded --checkpoint blocks")) {
    EXPECT_EQ(row["dtype"], "float64");
    EXPECT_EQ(row["storage"], "sharded");
    EXPECT_EQ(row["checkpoint"], "blocks");
  }
  EXPECT_EQ(plans_of(vit + "--checkpoint none,blocks --storage whole").size(), 6 * 2 * 2U);
}

TEST_F(PlanCommand, AScenarioIsSearchedAlongTheSwitchesItHas) {
  for (const Json& row :
       plans_of("ring_attention --preset tiny --machine dgx-h100 --max-ranks 2")) {
    EXPECT_FALSE(row.contains("storage"));
    EXPECT_FALSE(row.contains("checkpoint"));
  }
}

// Batch 2 gives four ranks of axis data nothing to do, whatever else is set.
TEST_F(PlanCommand, ADataAxisLongerThanTheBatchIsNamedWithoutAPrediction) {
  int idle = 0;
  for (const Json& row : plans_of("vit --preset tiny --machine dgx-h100 --max-ranks 4")) {
    if (row["mesh"] != "data=4") continue;
    ++idle;
    EXPECT_FALSE(row.contains("seconds"));
    EXPECT_EQ(row["reason"], "batch 2 cannot give each of 4 ranks a part");
  }
  EXPECT_EQ(idle, 4);
}

TEST_F(PlanCommand, OffloadMakesWhatDoesNotFitSmallerAndNoFaster) {
  const Json rows = plans_of("vit --size 4096x4096 --machine dgx-h100 --max-ranks 2 --train");
  std::map<std::string, Json> plain;
  for (const Json& row : rows)
    if (row["offload"] == "none") plain[key_of(row)] = row;
  int offloaded = 0;
  for (Json row : rows) {
    if (row["offload"] == "none") continue;
    ++offloaded;
    EXPECT_TRUE(row["predicted_only"].get<bool>());
    EXPECT_GT(row["host_bytes"].get<double>(), 0);
    row["offload"] = "none";
    const Json& before = plain.at(key_of(row));
    EXPECT_FALSE(before["fits"].get<bool>());
    EXPECT_GE(row["seconds"].get<double>(), before["seconds"].get<double>());
    EXPECT_LT(row["device_bytes"].get<double>(), before["device_bytes"].get<double>());
  }
  EXPECT_GT(offloaded, 0);
}

TEST_F(PlanCommand, ObjectivesSortByWhatTheyName) {
  const std::string vit = "vit --preset tiny --machine dgx-h100 --max-ranks 8 --train --objective ";
  const std::map<std::string, std::string> keys{{"time", "seconds"},
                                                {"gpu-hours", "device_hours_per_1000_steps"},
                                                {"memory", "device_bytes"}};
  for (const auto& [objective, key] : keys) {
    double before = 0;
    for (const Json& row : plans_of(vit + objective)) {
      if (!row["fits"].get<bool>()) break;
      EXPECT_GE(row[key].get<double>(), before) << objective;
      before = row[key].get<double>();
    }
  }
}

TEST_F(PlanCommand, AStarMeansThatNoPlanIsFasterAndCheaper) {
  const Json rows = plans_of("vit --size 2048x2048 --machine dgx-h100 --max-ranks 16 --train");
  int stars = 0;
  for (const Json& row : rows) {
    if (!row["fits"].get<bool>()) continue;
    bool beaten = false;
    for (const Json& other : rows)
      beaten =
          beaten || (other["fits"].get<bool>() && other["seconds"] < row["seconds"] &&
                     other["device_hours_per_1000_steps"] < row["device_hours_per_1000_steps"]);
    if (row["undominated"].get<bool>()) {
      ++stars;
      EXPECT_FALSE(beaten) << row.dump();
    }
  }
  EXPECT_TRUE(rows[0]["undominated"].get<bool>()) << "nothing is faster than the fastest";
  EXPECT_GT(stars, 1);
}

TEST_F(PlanCommand, TextNamesTheBestWhatDoesNotGoAndTheNextCommand) {
  const Ended ended =
      type("plan vit --size 2048x2048,4096x4096 --machine slow-ethernet --max-ranks 16 --train");
  EXPECT_EQ(ended.exit, 0) << ended.err;
  for (const char* part :
       {"size 2048x2048, training, on slow-ethernet", "size 4096x4096", "80 % interval",
        "ranks without work", "most of it activation", "predicted only", "tensor axes",
        "next: shardlab predict vit --size 2048x2048 --train --dtype"})
    EXPECT_TRUE(has(ended.out, part)) << part << " is not in\n" << ended.out;
  expect_at_most_120_columns(ended.out);
}

TEST_F(PlanCommand, TheNextCommandPredictsWhatThePlanSays) {
  const std::string problem = "plan vit --preset tiny --batch 4 --machine dgx-h100 --max-ranks 4 ";
  const Ended plan = type(problem + "--train --storage sharded");
  const std::string word = "next: shardlab ";
  const std::size_t at = plan.out.find(word);
  ASSERT_NE(at, std::string::npos) << plan.out;
  const std::string next = plan.out.substr(at + word.size());
  const Ended predicted = type(next.substr(0, next.find('\n')) + " --json");
  EXPECT_EQ(predicted.exit, 0) << predicted.err;
  const Json best = Json::parse(type(problem + "--train --storage sharded --json").out)[0]["plans"];
  EXPECT_EQ(Json::parse(predicted.out)[0]["seconds"], best[0]["seconds"]);
}

TEST_F(PlanCommand, NoPlanThatFitsIsExitOne) {
  const Ended none = type("plan vit --machine dgx-h100 --max-ranks 2 --memory 1GiB --train");
  EXPECT_EQ(none.exit, 1);
  EXPECT_TRUE(has(none.out, "no plan fits") && has(none.out, "too much")) << none.out;
  EXPECT_EQ(
      type("plan vit --machine dgx-h100 --max-ranks 2 --memory 1GiB --train --strategies").exit, 1);
}

TEST_F(PlanCommand, WhatIsWrongIsSaid) {
  expect("plan vit", 2, "plan needs --machine");
  expect("plan vit ring_attention --machine dgx-h100", 2, "one scenario at a time, got 2");
  expect("plan vit --machine dgx-h10", 2, "did you mean 'dgx-h100'");
  expect("plan vit --machine dgx-h100 --memory 80", 2, "expected a size such as 80GiB");
  expect("plan vit --machine dgx-h100 --memory -1GiB", 2, "expected a size such as 80GiB");
  expect("plan vit --machine dgx-h100 --max-ranks 0", 2, "at least 1 is needed");
  expect("plan vit --machine dgx-h100 --objective tim", 2, "did you mean 'time'");
  expect("plan vit --machine dgx-h100 --train --offload weights", 2, "known are none, optimizer");
  expect("plan vit --machine dgx-h100 --train --offload none,,both", 2, "unknown offload ''");
  expect("plan vit --machine dgx-h100 --offload both", 2, "add --train");
  expect("plan vit --machine dgx-h100 --scaling weak", 2, "do the same work");
  expect("plan vit --machine dgx-h100 --preset pape", 2, "known are paper, small, tiny");
  expect("plan vit --machine dgx-h100 --checkpoint blok", 2, "expected none or blocks");
  expect("plan vit --machine dgx-h100 --heads 5", 2, "5 heads");
  expect("plan vit --machine dgx-h100 --heads 5 --strategies", 2, "5 heads");
  expect("plan ring_attention --machine dgx-h100 --storage sharded", 2, "has no parameter");
  expect("plan vit --machine dgx-h100 --dtype float31", 2, "float32");
}

TEST(PlanTrial, WaysOfComputingShareOneTraceAndItsMemory) {
  Scenarios scenarios;
  add_all_scenarios(scenarios);
  const Scenario& vit = scenarios.find("vit");
  PlanOptions options;
  options.predict.machine = sim::find_machine("dgx-h100");
  options.predict.profile = sim::find_profile("shardlab");
  PlanTrial trial(options);
  Params params = vit.preset("small");
  const auto try_as = [&](const char* dtype) {
    params.precision = parse_precision(dtype);
    return trial({&vit, mesh_of(1, 2), params, params}, {}).front();
  };
  const Proposal exact = try_as("float32");
  const Proposal tf32 = try_as("tf32");
  EXPECT_LT(tf32.seconds, exact.seconds);
  EXPECT_EQ(tf32.device_bytes, exact.device_bytes);
}

}  // namespace
}  // namespace shardlab::test
