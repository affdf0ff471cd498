#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/tools/typed.h"

namespace shardlab::test {
namespace {

class CommandLine : public Typed {};

TEST_F(CommandLine, RunStoresAndShowPrintsAScalingTable) {
  const Ended run = type("run ring_attention vit --preset tiny --ranks 1,2,3 --train --check");
  EXPECT_EQ(run.exit, 0) << run.err;
  const Ended show = type("show");
  EXPECT_EQ(show.exit, 0) << show.err;
  for (const char* part : {"ring_attention, float32, training, on cpu", "vit, float32", "domain=1",
                           "domain=2", "domain=3", "speedup", "efficiency", "33 ok", "6 ok"})
    EXPECT_TRUE(has(show.out, part)) << part << " is not in\n" << show.out;
  std::istringstream lines(show.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120U) << line;
}

TEST_F(CommandLine, EveryMeshOfTheTinyPresetsAgreesWithOneRankInFloat64) {
  for (const char* mesh :
       {"data=2", "data=2,domain=2", "domain=2,data=2", "domain=4", "domain=7"}) {
    const Ended run = type(std::string("run ring_attention vit --preset tiny --train --check "
                                       "--iterations 1 --dtype float64,float32 --mesh ") +
                           mesh);
    EXPECT_EQ(run.exit, 0) << mesh << "\n" << run.err;
  }
}

TEST_F(CommandLine, WhatCannotBePrintedIsAFailureAndNoCrash) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  expect("list >/dev/full", 4, "what is printed cannot be written: No space left on device");
  expect("--help >/dev/full", 4, "what is printed cannot be written");
  EXPECT_EQ(type("bogus 2>/dev/full").exit, 2);
  EXPECT_EQ(type("show 2>/dev/full").exit, 4) << "there is no database";
  EXPECT_EQ(type("run vit --preset tiny --iterations 3 2>/dev/full").exit, 0);
  EXPECT_TRUE(has(type("show 1").out, "complete")) << "its progress is not worth a run";
}

TEST_F(CommandLine, MoreRanksThanRowsIsAWarningAndRuns) {
  const Ended run =
      type("run vit --preset tiny --size 4x8 --ranks 3 --train --check --iterations 1");
  EXPECT_EQ(run.exit, 0) << run.err;
  EXPECT_TRUE(has(run.err, "1 of 3 ranks of axis domain are left empty")) << run.err;
}

TEST_F(CommandLine, CommasSweepAndJsonIsReadable) {
  const Ended run = type(
      "run ring_attention --preset tiny --sequence 5,9 --dtype float32,float64 --iterations 1 "
      "--json");
  ASSERT_EQ(run.exit, 0) << run.err;
  EXPECT_EQ(nlohmann::json::parse(run.out).size(), 4U);
  const Ended one = type("show 1 --json");
  ASSERT_EQ(one.exit, 0) << one.err;
  EXPECT_TRUE(nlohmann::json::parse(one.out).is_object());
}

TEST_F(CommandLine, WeakScalingRunsGrownSizesAndStoresThoseOfOneRank) {
  const Ended run = type(
      "run ring_attention vit --preset tiny --scaling weak --ranks 1,2 --mesh data=2 --train "
      "--check --iterations 2");
  ASSERT_EQ(run.exit, 0) << run.err;
  for (const char* part : {"ring_attention on domain=1, float32, training ...", ", sequence 24 ...",
                           ", size 24x8 ...", "data=2, float32, training, batch 4 ..."})
    EXPECT_TRUE(has(run.err, part)) << part << " is not in\n" << run.err;
  for (const char* part :
       {"training, weak scaling, on cpu", "sequence=12", "scaling=weak",
        "sizes are those of one rank; efficiency is T1/TN", "domain=2: a rank does 2.0"})
    EXPECT_TRUE(has(run.out, part)) << part << " is not in\n" << run.out;
  EXPECT_FALSE(has(run.out, "data=2: a rank does")) << run.out;
  const Ended show = type("show --json");
  const auto curves = nlohmann::json::parse(show.out);
  ASSERT_EQ(curves.size(), 2U) << show.out;
  for (const auto& curve : curves) {
    EXPECT_EQ(curve["parameters"]["scaling"], "weak");
    EXPECT_EQ(curve["parameters"]["batch"], "2");
    ASSERT_EQ(curve["rows"].size(), 3U);
    for (const auto& row : curve["rows"]) {
      EXPECT_EQ(row["checks_failed"], 0);
      EXPECT_GT(row["checks_passed"], 0);
      const double ratio = curve["rows"][0]["seconds"].get<double>() / row["seconds"].get<double>();
      EXPECT_DOUBLE_EQ(row["speedup"].get<double>(), ratio * row["ranks"].get<double>());
    }
  }
}

TEST_F(CommandLine, StrongScalingIsTheDefaultAndNoParameterOfTheSeries) {
  const std::string run = "run ring_attention --preset tiny --iterations 1 ";
  for (const char* scaling : {"", "--scaling strong --ranks 2", "--scaling weak"})
    ASSERT_EQ(type(run + scaling).exit, 0) << scaling;
  const auto curves = nlohmann::json::parse(type("show --json").out);
  ASSERT_EQ(curves.size(), 2U) << curves.dump(2);
  EXPECT_EQ(curves[0]["parameters"]["scaling"], "weak");
  EXPECT_FALSE(curves[1]["parameters"].contains("scaling"));
  EXPECT_EQ(curves[1]["rows"].size(), 2U);
}

TEST_F(CommandLine, WeakScalingOnAnAxisThatGrowsNothingIsRefusedBeforeTheFirstRun) {
  for (const char* verb : {"run", "layout"})
    expect(std::string(verb) + " vit --preset tiny --scaling weak --mesh domain=2 --mesh dat=2", 2,
           "nothing grows with axis 'dat' of mesh dat=2: did you mean 'data'?");
  EXPECT_FALSE(std::filesystem::exists(folder_.path("shardlab.sqlite")));
}

TEST_F(CommandLine, UnknownWordsNameTheNearestKnownOne) {
  expect("run vitt", 2, "unknown scenario 'vitt': did you mean 'vit'?");
  expect("runn vit", 2, "unknown verb 'runn': did you mean 'run'?");
  expect("run vit --rank 2", 2, "unknown option --rank: did you mean --ranks?");
  expect("run ring_attention --preset tiny --width 3", 2,
         "ring_attention has no parameter --width");
  expect("run vit --preset smal", 2, "unknown preset 'smal'");
  expect("run vit --scaling weka", 2, "unknown scaling 'weka': did you mean 'weak'?");
  expect("layout vit --scaling stron", 2, "unknown scaling 'stron': did you mean 'strong'?");
  expect("run vit --dtype float31", 2, "unknown dtype 'float31'");
  expect("run vit --on gpu", 2, "known are cpu and cuda");
}

TEST_F(CommandLine, ImpossibleSizesAndRanksAreInvalidInput) {
  expect("run vit --preset tiny --ranks 0", 2, "0 ranks; at least 1 is needed");
  expect("run vit --preset tiny --ranks two", 2, "expected numbers such as 1,2,4");
  expect("run vit --preset tiny --mesh data=2,domain", 2, "expected NAME=RANKS");
  expect("run vit --preset tiny --size 13x8", 2, "size 13 is no multiple of patch 2");
  expect("run vit --preset tiny --size 0x8", 2, "expected sizes such as 512x512");
  expect("run vit --preset tiny --heads 3", 2, "width 8 is no multiple of 3 heads");
  expect("run ring_attention --preset tiny --sequence 0", 2, "must be positive");
  expect("run ring_attention --preset tiny --heads many", 2, "expected a whole number");
  expect("run", 2, "scenario is required");
}

TEST_F(CommandLine, WhatTheBuildLacksIsStoredAsSkipped) {
  expect("run ring_attention --preset tiny --dtype bfloat16", 3, "skipped");
  const Ended show = type("show");
  EXPECT_TRUE(has(show.out, "skipped")) << show.out;
  expect("run vit --preset tiny --on cuda", 3, "CUDA backend is not in this build");
}

TEST_F(CommandLine, DatabasesThatAreNoneAreRefusedAndKept) {
  expect("show --db absent.sqlite", 4, "absent.sqlite");
  std::ofstream(folder_.path("text.sqlite")) << std::string(8192, 'x');
  expect("show --db text.sqlite", 4, "text.sqlite");
  expect("run vit --preset tiny --iterations 1 --db text.sqlite", 4, "text.sqlite");
  EXPECT_EQ(text_of(folder_.path("text.sqlite")), std::string(8192, 'x'));
  expect("run vit --preset tiny --iterations 1 --db none/at/all.sqlite", 4, "none/at/all.sqlite");
}

TEST_F(CommandLine, AFullDiskIsAnErrorAndLosesNothing) {
  ASSERT_EQ(type("run ring_attention --preset tiny --iterations 1").exit, 0);
  const std::string before = type("show runs").out;
  const Ended full = run_command("ulimit -f 16; " + std::string(SHARDLAB_BINARY) +
                                     " run vit --preset tiny --iterations 200 --db small.sqlite",
                                 folder_);
  EXPECT_NE(full.exit, 0);
  EXPECT_EQ(type("show runs").out, before);
}

TEST_F(CommandLine, ShowOfAnUnknownRunIsInvalid) {
  ASSERT_EQ(type("run ring_attention --preset tiny --iterations 1").exit, 0);
  expect("show 17", 2, "17");
}

TEST_F(CommandLine, ListShowsScenariosAndTheirParameters) {
  const Ended list = type("list");
  EXPECT_EQ(list.exit, 0);
  EXPECT_TRUE(has(list.out, "ring_attention") && has(list.out, "vit")) << list.out;
  const Ended vit = type("list vit");
  EXPECT_EQ(vit.exit, 0);
  EXPECT_TRUE(has(vit.out, "--patch") && has(vit.out, "16.9 TFLOP") && has(vit.out, "times domain"))
      << vit.out;
  expect("list vitt", 2, "did you mean 'vit'?");
}

TEST_F(CommandLine, LayoutShowsWhereEverythingLiesAndWhatMoves) {
  const Ended layout = type("layout vit --preset paper --ranks 4 --train");
  ASSERT_EQ(layout.exit, 0) << layout.err;
  for (const char* part : {"[1, 16384, 768]", "dim 1 over domain: 4x4096", "exchange over domain",
                           "all_reduce over domain", "block0", "moves"})
    EXPECT_TRUE(has(layout.out, part)) << part << " is not in\n" << layout.out.substr(0, 4000);
  std::istringstream lines(layout.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120U) << line;
}

TEST_F(CommandLine, LayoutOfWeakScalingShowsTheGrownProblem) {
  const Ended layout = type("layout ring_attention --preset tiny --scaling weak --ranks 3");
  ASSERT_EQ(layout.exit, 0) << layout.err;
  for (const char* part : {"sequence 36", "[2, 36, 2, 4]", "dim 1 over domain: 3x12"})
    EXPECT_TRUE(has(layout.out, part)) << part << " is not in\n" << layout.out;
}

TEST_F(CommandLine, DoctorPrintsWhatWasPicked) {
  const Ended doctor = type("doctor");
  EXPECT_EQ(doctor.exit, 0);
  for (const char* part :
       {"instruction level picked", "oneDNN", "cuda", "usable cores", "predict, plan       built"})
    EXPECT_TRUE(has(doctor.out, part)) << part << " is not in\n" << doctor.out;
}

TEST_F(CommandLine, AKilledRunIsShownAsInterrupted) {
  const Ended killed =
      run_command(std::string(SHARDLAB_BINARY) +
                      " run vit --preset small --iterations 50 --db killed.sqlite & pid=$!; "
                      "for i in $(seq 100); do sleep 0.1; "
                      "[ -s killed.sqlite ] && " +
                      SHARDLAB_BINARY +
                      " show runs --db killed.sqlite 2>/dev/null | grep -q running && break; done; "
                      "kill -9 $pid; wait $pid",
                  folder_);
  EXPECT_NE(killed.exit, 0);
  const Ended show = type("show runs --db killed.sqlite");
  EXPECT_EQ(show.exit, 0) << show.err;
  EXPECT_TRUE(has(show.out, "interrupted")) << show.out;
}

}  // namespace
}  // namespace shardlab::test
