#include "tools/perfetto.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/core/error.h"
#include "tests/support/command.h"
#include "tools/perfetto_slices.h"

namespace shardlab::test {
namespace {

using Json = nlohmann::json;

/// A timeline that is written down step by step, in microseconds.
class Perfetto : public testing::Test {
 protected:
  Perfetto() {
    run_.header.series = {.scenario = "vit", .mesh = "domain=2"};
    run_.uuid = "abc";
  }

  results::Step& step(const char* op, const char* lane, double begin, double end,
                      std::int32_t rank = 0) {
    results::Step each;
    each.rank = rank;
    each.ordinal = static_cast<std::int64_t>(timeline_.steps.size());
    if (!timeline_.scopes.empty()) each.scope = timeline_.scopes.back().ordinal;
    each.op = op;
    each.lane = lane;
    each.begin_seconds = begin * 1e-6;
    each.end_seconds = end * 1e-6;
    return timeline_.steps.emplace_back(each);
  }

  /// Steps from now on belong to it.
  void scope(const char* name) {
    results::Scope each;
    each.ordinal = static_cast<std::int64_t>(timeline_.scopes.size());
    each.name = name;
    timeline_.scopes.push_back(each);
  }

  Json events() { return Json::parse(perfetto_json(run_, timeline_))["traceEvents"]; }

  /// The events of a phase, and of a name if one is given.
  std::vector<Json> events(const std::string& phase, const std::string& name = "") {
    std::vector<Json> found;
    for (const Json& event : events())
      if (event["ph"] == phase && (name.empty() || event["name"] == name)) found.push_back(event);
    return found;
  }
  Json slice(const std::string& name) {
    const std::vector<Json> found = events("X", name);
    EXPECT_EQ(found.size(), 1U) << name;
    return found.at(0);
  }
  std::string thread_of(const Json& event) {
    for (const Json& each : events("M", "thread_name"))
      if (each["tid"] == event["tid"]) return each["args"]["name"];
    return "none";
  }
  static bool inside(const Json& inner, const Json& outer) {
    return inner["tid"] == outer["tid"] && inner["ts"] >= outer["ts"] &&
           inner["ts"].get<double>() + inner["dur"].get<double>() <=
               outer["ts"].get<double>() + outer["dur"].get<double>() + 1e-9;
  }

  results::StoredRun run_;
  results::Timeline timeline_;
};

TEST_F(Perfetto, TimesAreMicrosecondsFromTheFirstStep) {
  step("add", "compute", 1000, 1002.5).flop = 7;
  step("gelu", "compute", 1002.5, 1002.5004);
  const Json add = slice("add");
  EXPECT_EQ(add["ts"], 0);
  EXPECT_EQ(add["dur"], 2.5);
  EXPECT_EQ(add["args"]["flop"], 7);
  EXPECT_FALSE(add["args"].contains("bytes"));
  EXPECT_EQ(slice("gelu")["ts"], 2.5);
  EXPECT_EQ(slice("gelu")["dur"], 0) << "a slice without a duration would be dropped";
}

TEST_F(Perfetto, RanksAreProcessesAndNoTwoShareAThread) {
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    step("add", "compute", 0, 1, rank);
    step("exchange", "comm0", 1, 2, rank);
    step("copy", "host", 1, 2, rank);
  }
  std::map<std::int64_t, std::int64_t> process_of;
  for (const Json& event : events("X")) {
    EXPECT_GT(event["pid"].get<int>(), 0);
    const auto [at, is_new] = process_of.emplace(event["tid"], event["pid"]);
    EXPECT_TRUE(is_new || at->second == event["pid"]);
  }
  EXPECT_EQ(process_of.size(), 12U - 3U) << "compute, comm0 and host of each rank";
  const std::vector<Json> names = events("M", "process_name");
  ASSERT_EQ(names.size(), 3U);
  EXPECT_EQ(names[2]["args"]["name"], "rank 2");
}

TEST_F(Perfetto, ScopesNestAroundTheirStepsByTheirDottedNames) {
  scope("backward.block1");
  step("a", "compute", 0, 2);
  scope("backward.block0");
  step("b", "compute", 3, 4);
  scope("optimizer");
  step("c", "compute", 5, 6);
  const Json backward = slice("backward");
  EXPECT_EQ(backward["ts"], 0);
  EXPECT_EQ(backward["dur"], 4);
  for (const char* inner : {"block1", "block0", "a", "b"})
    EXPECT_TRUE(inside(slice(inner), backward)) << inner;
  EXPECT_TRUE(inside(slice("a"), slice("block1")));
  EXPECT_FALSE(inside(slice("a"), slice("block0")));
  EXPECT_FALSE(inside(slice("c"), backward));
  for (const char* inner : {"backward", "optimizer"})
    EXPECT_TRUE(inside(slice(inner), slice("iteration 0"))) << inner;
}

TEST_F(Perfetto, AWaitInsideOfAScopeDoesNotPartIt) {
  scope("backward");
  step("all_reduce", "comm0", 0, 1);
  scope("optimizer");
  step("a", "compute", 1, 2);
  step("wait all_reduce", "comm0", 2, 3).scope = 0;
  step("b", "compute", 3, 4);
  const Json optimizer = slice("optimizer");
  EXPECT_EQ(optimizer["dur"], 3);
  EXPECT_TRUE(inside(slice("wait all_reduce"), optimizer));
}

TEST_F(Perfetto, ArrowsLeadFromEachCommunicationToItsOwnWait) {
  scope("head");
  step("all_reduce", "comm0", 0, 10);
  scope("stem");
  step("all_reduce", "comm0", 10, 20);
  step("wait all_reduce", "comm0", 5, 21);
  step("wait all_reduce", "comm0", 21, 21.5).scope = 0;
  const std::vector<Json> starts = events("s");
  const std::vector<Json> ends = events("f");
  ASSERT_EQ(starts.size(), 2U);
  ASSERT_EQ(ends.size(), 2U);
  const std::vector<Json> waits = events("X", "wait all_reduce");
  for (const Json& end : ends) {
    EXPECT_EQ(end["bp"], "e");
    const Json& start = starts[0]["id"] == end["id"] ? starts[0] : starts[1];
    EXPECT_LE(start["ts"], end["ts"]);
    EXPECT_EQ(thread_of(start), "comm0");
    // The stem's is the one that is waited for first, though it was started last.
    const Json& wait = start["ts"] == 10 ? waits[0] : waits[1];
    EXPECT_EQ(end["tid"], wait["tid"]);
    EXPECT_GE(end["ts"], wait["ts"]);
    EXPECT_LT(end["ts"].get<double>(), wait["ts"].get<double>() + wait["dur"].get<double>());
  }
  EXPECT_EQ(thread_of(waits[0]), "compute");
}

TEST_F(Perfetto, AnArrowThatWouldLeadBackInTimeIsLeftOut) {
  step("exchange", "comm0", 10, 12);
  step("wait exchange", "comm0", 5, 10);
  EXPECT_EQ(events("X").size(), 2U);
  EXPECT_TRUE(events("s").empty());
  EXPECT_TRUE(events("f").empty());
}

TEST_F(Perfetto, SlicesOfAThreadNestOrFollowEachOther) {
  step("all_gather", "comm0", 0, 10);
  step("all_reduce", "comm0", 5, 15);
  step("broadcast", "comm0", 12, 16);
  step("exchange", "comm0", 10, 11);
  EXPECT_EQ(thread_of(slice("all_gather")), "comm0");
  EXPECT_EQ(thread_of(slice("all_reduce")), "comm0 (2)");
  EXPECT_EQ(thread_of(slice("broadcast")), "comm0");
  EXPECT_EQ(thread_of(slice("exchange")), "comm0");
}

TEST_F(Perfetto, AStepThatEnclosesTheOneBeforeItStaysAroundIt) {
  scope("stem");
  step("copy", "compute", 2, 3);
  step("reshape", "compute", 1, 4);
  EXPECT_TRUE(inside(slice("copy"), slice("reshape")));
  EXPECT_TRUE(inside(slice("reshape"), slice("stem")));
}

TEST_F(Perfetto, WhatTheHostDoesAheadOfTheDeviceIsShownThere) {
  step("linear", "compute", 0, 10);
  step("reshape", "compute", 3, 3);
  EXPECT_EQ(thread_of(slice("reshape")), "host");
  EXPECT_EQ(thread_of(slice("linear")), "compute");
}

TEST_F(Perfetto, LiveBytesAreACounterThatNeverGoesBackInTime) {
  step("a", "compute", 0, 4).live_bytes = 64;
  step("exchange", "comm0", 30, 40).live_bytes = 128;
  step("b", "compute", 4, 8).live_bytes = 128;
  step("c", "compute", 8, 9).live_bytes = 0;
  std::vector<std::pair<double, int>> levels;
  for (const Json& event : events("C", "live"))
    levels.emplace_back(event["ts"], event["args"]["bytes"]);
  EXPECT_EQ(levels, (std::vector<std::pair<double, int>>{{4, 64}, {4, 128}, {9, 0}}));
}

TEST_F(Perfetto, PredictedNamesAreMarkedAndFoldsSayWhomTheyStandFor) {
  run_.header.series.execution = results::Execution::predict;
  run_.header.series.machine = "dgx-h100";
  run_.rows.folds = {{0, 2, "0-1"}};
  scope("stem");
  step("add", "compute", 0, 1).live_bytes = 64;
  EXPECT_EQ(events("M", "process_name").at(0)["args"]["name"], "~rank 0, stands for 2: 0-1");
  for (const char* phase : {"X", "C"})
    for (const Json& event : events(phase))
      EXPECT_EQ(event["name"].get<std::string>().front(), '~') << event;
}

TEST_F(Perfetto, AnyTextBecomesValidJson) {
  step("a\"b\\\n\x01", "compute", 0, 1).detail = "\xff{";
  run_.header.commit = "\"";
  EXPECT_EQ(events("X").size(), 2U);
}

TEST_F(Perfetto, ARunWithoutStepsIsUnsupported) {
  try {
    (void)perfetto_json(run_, timeline_);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::unsupported);
  }
}

TEST_F(Perfetto, AFileThatCannotBeWrittenIsExternalAndNamed) {
  step("add", "compute", 0, 1);
  const Folder folder;
  const std::string good = folder.path("out.json").string();
  write_perfetto(run_, timeline_, good);
  EXPECT_EQ(text_of(good), perfetto_json(run_, timeline_));
  for (const std::string& path : {folder.path("none/out.json").string(), std::string("/dev/full")})
    try {
      write_perfetto(run_, timeline_, path);
      ADD_FAILURE() << path << " was written";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::external);
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace shardlab::test
