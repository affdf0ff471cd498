#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/tools/typed.h"

namespace shardlab::test {
namespace {

using Json = nlohmann::json;

class StrategiesCommand : public Typed {
 protected:
  Json compare(const std::string& words) {
    const Ended ended = type("plan " + words + " --strategies --json");
    EXPECT_EQ(ended.exit, 0) << words << "\n" << ended.err;
    return Json::parse(ended.out)[0];
  }

  static Json row_of(const Json& all, const std::string& strategy) {
    for (const Json& row : all["strategies"])
      if (row["strategy"] == strategy) return row;
    ADD_FAILURE() << "no row of " << strategy << " in " << all.dump(2);
    return {};
  }
};

TEST_F(StrategiesCommand, EachEitherFitsOrIsExplained) {
  const Json all = compare("vit --size 4096x4096 --machine dgx-h100 --train");
  for (const char* name :
       {"one GPU as asked", "lower precision", "checkpointing", "offload", "sharded storage",
        "smaller batch a GPU", "domain parallelism", "down-sampling"})
    EXPECT_EQ(row_of(all, name)["strategy"], name);
  for (const Json& row : all["strategies"])
    EXPECT_NE(row["fits"].get<bool>(), row.contains("reason")) << row.dump();
  EXPECT_FALSE(row_of(all, "one GPU as asked")["fits"].get<bool>());
  EXPECT_EQ(row_of(all, "lower precision")["same_result"], "other rounding");
  const Json smaller = row_of(all, "down-sampling");
  EXPECT_EQ(smaller["same_result"], "other problem");
  EXPECT_EQ(smaller["change"], "size 2048x2048");
  EXPECT_EQ(row_of(all, "sharded storage")["reason"], "batch 1 cannot give each of 2 ranks a part");
}

TEST_F(StrategiesCommand, DataTakesTheFewestRanksThatFit) {
  // One image takes 50 GiB of a device's 80, so that four need data=4 and two are too many.
  const Json all = compare("vit --size 2048x2048 --batch 4 --machine dgx-h100 --train");
  EXPECT_EQ(row_of(all, "smaller batch a GPU")["plan"]["mesh"], "data=4");
  EXPECT_EQ(row_of(all, "sharded storage")["change"], "storage sharded, data=4");
}

TEST_F(StrategiesCommand, DownSamplingGoesOnUntilItFits) {
  // Memory grows with the number of pixels; half of 8192 in each dim is 4096, which does not fit.
  const Json all = compare("vit --size 8192x8192 --machine dgx-h100 --max-ranks 32 --train");
  EXPECT_EQ(row_of(all, "down-sampling")["change"], "size 2048x2048");
  EXPECT_EQ(row_of(compare("ring_attention --machine dgx-h100"), "down-sampling")["change"],
            "sequence 65536");
}

TEST_F(StrategiesCommand, TheCheapestFitsUnchanged) {
  const Json all = compare("vit --size 4096x4096 --machine gb200-nvl72 --train");
  const std::string cheapest = all["cheapest_unchanged"];
  double least = 1e300;
  std::string found;
  for (const Json& row : all["strategies"]) {
    if (!row["fits"].get<bool>() || row["same_result"] != "yes") continue;
    const double hours = row["plan"]["device_hours_per_1000_steps"];
    if (hours >= least) continue;
    least = hours;
    found = row["strategy"];
  }
  EXPECT_EQ(cheapest, found);
}

TEST_F(StrategiesCommand, WhatAScenarioLacksIsSaid) {
  const Json all = compare("ring_attention --preset small --machine dgx-h100 --train");
  EXPECT_EQ(row_of(all, "checkpointing")["reason"], "ring_attention has no --checkpoint");
  EXPECT_EQ(row_of(all, "sharded storage")["reason"], "ring_attention has no --storage");
  const Json inference = compare("vit --preset small --machine dgx-h100");
  EXPECT_EQ(row_of(inference, "checkpointing")["reason"], "inference saves nothing for backward");
}

TEST_F(StrategiesCommand, TextFitsAPageAndEndsWithACommandThatWorks) {
  const Ended ended =
      type("plan vit --size 4096x4096 --machine slow-ethernet --train --strategies");
  EXPECT_EQ(ended.exit, 0) << ended.err;
  std::istringstream lines(ended.out);
  std::string last;
  for (std::string line; std::getline(lines, line); last = line)
    EXPECT_LE(line.size(), 120U) << line;
  EXPECT_TRUE(has(ended.out, "same result?") && has(ended.out, "cheapest that fits unchanged"))
      << ended.out;
  const std::string word = "next: shardlab ";
  ASSERT_TRUE(last.starts_with(word)) << ended.out;
  EXPECT_EQ(type(last.substr(word.size())).exit, 0) << last;
}

TEST_F(StrategiesCommand, WhereNothingAloneFitsTheCombinedSearchIsNext) {
  const Ended none = type(
      "plan vit --size 4096x4096 --machine dgx-h100 --max-ranks 2 --memory 2GiB --train "
      "--strategies");
  EXPECT_EQ(none.exit, 1);
  EXPECT_TRUE(has(none.out, "nothing alone fits unchanged on up to 2 ranks")) << none.out;
  EXPECT_TRUE(has(none.out, "combined: shardlab plan vit --size 4096x4096")) << none.out;
  EXPECT_FALSE(has(none.out, "--strategies")) << none.out;
}

}  // namespace
}  // namespace shardlab::test
