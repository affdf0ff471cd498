#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/sim/machines.h"
#include "results/store.h"
#include "tests/tools/typed.h"
#include "tools/probe_store.h"

namespace shardlab::test {
namespace {

using Json = nlohmann::json;

class ShowCommand : public Typed {};

TEST_F(ShowCommand, MachinesAndProfilesAreListedAndShown) {
  const Ended list = type("list machines");
  EXPECT_EQ(list.exit, 0);
  EXPECT_TRUE(has(list.out, "dgx-h100") && has(list.out, "shardlab show machine")) << list.out;
  EXPECT_TRUE(has(type("list profiles").out, "pytorch-shardtensor-2025"));
  const Ended show = type("show machine dgx-h100");
  EXPECT_EQ(show.exit, 0);
  EXPECT_TRUE(has(show.out, "3.35 TB/s") && has(show.out, "NVIDIA data sheet")) << show.out;
  EXPECT_EQ(Json::parse(type("show machine dgx-h100 --json").out)["name"], "dgx-h100");
  EXPECT_TRUE(Json::parse(type("list machines --json").out).is_array());
  EXPECT_TRUE(Json::parse(type("list profiles --json").out).is_array());
}

TEST_F(ShowCommand, AMachineOfAFileIsShown) {
  std::ofstream(folder_.path("my.toml"))
      << "extends = \"dgx-h100\"\n"
         "gpu.memory = { value = 94, unit = \"GiB\", source = \"vendor\", from = \"sheet\" }\n";
  const Ended show = type("show machine ./my.toml");
  EXPECT_EQ(show.exit, 0) << show.err;
  EXPECT_TRUE(has(show.out, "94 GiB")) << show.out;
  expect("show machine ./none.toml", 4, "none.toml");
  expect("show machine ./", 2, "a folder, not a machine file");
  std::ofstream(folder_.path("noise.toml")) << "extends = \"dgx-h100\"\n\xff\xfe = 3\n";
  expect("show machine ./noise.toml", 2, "noise.toml:2: a letter beyond ASCII outside quotes");
}

TEST_F(ShowCommand, UnknownMachinesAndListsNameTheNearest) {
  expect("show machine dgx-h10", 2, "did you mean 'dgx-h100'?");
  expect("show machine", 2, "list machines");
  expect("list machine", 2, "did you mean 'machines'?");
  expect("list profile", 2, "did you mean 'profiles'?");
}

TEST_F(ShowCommand, TheTimelineOfARunIsWrittenForPerfetto) {
  ASSERT_EQ(type("run vit --preset tiny --mesh domain=2 --train --iterations 1").exit, 0);
  const Ended show = type("show 1 --perfetto out.json");
  ASSERT_EQ(show.exit, 0) << show.err;
  const Json trace = Json::parse(text_of(folder_.path("out.json")));
  std::size_t starts = 0, waits = 0, arrows = 0;
  for (const Json& event : trace["traceEvents"]) {
    starts += event.value("cat", "") == "communication" && event["ph"] == "X";
    waits += event.value("cat", "") == "wait";
    arrows += event["ph"] == "f";
  }
  EXPECT_GT(starts, 0U);
  EXPECT_EQ(starts, waits);
  EXPECT_EQ(starts, arrows);
}

TEST_F(ShowCommand, WhatCannotBeWrittenForPerfettoSaysWhy) {
  ASSERT_EQ(type("run ring_attention --preset tiny --iterations 1").exit, 0);
  ASSERT_EQ(type("run ring_attention --preset tiny --iterations 1 --no-timeline").exit, 0);
  expect("show 1 --perfetto none/out.json", 4, "none/out.json: cannot be written");
  expect("show 1 --perfetto /dev/full", 4, "could be written");
  expect("show 2 --perfetto out.json", 3, "run 2 has no timeline");
  expect("show --perfetto out.json", 2, "--perfetto shows one run");
  expect("show 1 2 --perfetto out.json", 2, "--perfetto shows one run");
  const std::string before = text_of(folder_.path("shardlab.sqlite"));
  expect("show 1 --perfetto shardlab.sqlite", 2, "that is the results file");
  EXPECT_EQ(text_of(folder_.path("shardlab.sqlite")), before);
}

TEST_F(ShowCommand, PredictedRowsAreMarkedInEveryTable) {
  ASSERT_EQ(type("run vit --preset tiny --ranks 1,2 --iterations 1").exit, 0);
  const Ended predict = type("predict vit --preset tiny --ranks 1,2 --machine dgx-h100");
  ASSERT_EQ(predict.exit, 0) << predict.err;
  const Ended show = type("show");
  for (const char* part : {"~predicted on dgx-h100, profile shardlab", "80 % interval", "beside it",
                           "predicted dgx-h100, shardlab"})
    EXPECT_TRUE(has(show.out, part)) << part << " is not in\n" << show.out;
  EXPECT_TRUE(has(type("show runs").out, "~dgx-h100"));
  const Ended one = type("show 4");
  EXPECT_TRUE(has(one.out, "~") && has(one.out, "stands for")) << one.out;
}

TEST_F(ShowCommand, AnExplanationNamesStepRankAndWhatEachCauseMeans) {
  ASSERT_EQ(type("run vit --preset tiny --ranks 1,2 --train --iterations 3").exit, 0);
  const Ended ended = type("explain 2");
  ASSERT_EQ(ended.exit, 0) << ended.err;
  for (const char* part :
       {"one step, on rank ", "one rank is run 1", "traced step ", "median of 3 timed ones",
        "communication ...: data are under way", "unexplained: the total less all of the above"})
    EXPECT_TRUE(has(ended.out, part)) << part << " is not in\n" << ended.out;
}

TEST_F(ShowCommand, AProbeShowsTheNumbersThatItMeasured) {
  Probed probed;
  probed.machine = sim::find_machine("dgx-h100");
  store_probe(probed, folder_.path("shardlab.sqlite").string(), "shardlab probe");
  const Ended one = type("show 1");
  EXPECT_EQ(one.exit, 0) << one.err;
  for (const char* part : {"gpu.memory_bandwidth", "3.35 TB/s", "matmul, tf32"})
    EXPECT_TRUE(has(one.out, part)) << part << " is not in\n" << one.out;
  const Ended all = type("show");
  EXPECT_TRUE(has(all.out, "its numbers: shardlab show 1")) << all.out;
  EXPECT_FALSE(has(all.out, "speedup")) << all.out;
}

TEST_F(ShowCommand, ARunWithoutSamplesSaysWhatItHolds) {
  {
    results::Store store(folder_.path("shardlab.sqlite").string());
    results::RunHeader header;
    header.series.scenario = "vit";
    for (const bool timeline : {false, true}) {
      const results::RunId run = store.start_run(header);
      results::Step step;
      step.op = "add";
      step.lane = "compute";
      if (timeline) store.append(run, results::Timeline{{}, {step}});
      store.finish_run(run, results::RunStatus::failed, "out of luck");
    }
  }
  const Ended first = type("show 1");
  EXPECT_TRUE(has(first.out, "it holds no samples and no timeline")) << first.out;
  EXPECT_TRUE(has(first.out, "failed: out of luck")) << first.out;
  EXPECT_TRUE(has(type("show 2").out, "a timeline of 1 steps: `shardlab show 2 --perfetto"));
}

}  // namespace
}  // namespace shardlab::test
