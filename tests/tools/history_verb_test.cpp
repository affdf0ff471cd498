#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "results/store.h"
#include "tests/tools/typed.h"

namespace shardlab::test {
namespace {

using Json = nlohmann::json;

class HistoryCommand : public Typed {
 protected:
  /// One run for each commit `c000000N`, with a step of so many seconds and so many bytes.
  void store(const std::vector<double>& seconds, const std::vector<double>& bytes = {},
             const std::string& scenario = "vit", const std::string& processor = "test CPU") {
    results::Store store(folder_.path("shardlab.sqlite").string());
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      results::RunHeader header;
      header.series.scenario = scenario;
      header.environment.processor = processor;
      header.commit = commits_.empty() ? fmt::format("c{:07}", i) : commits_[i];
      header.created = fmt::format("2031-01-01T00:00:00.{:06}Z", i);
      const results::RunId run = store.start_run(header);
      results::Rows rows;
      rows.metrics.push_back({results::step_seconds(), {{.value = seconds[i]}}});
      if (!bytes.empty()) rows.metrics.push_back({results::bytes_sent(), {{.value = bytes[i]}}});
      store.append(run, rows);
      store.finish_run(run, results::RunStatus::complete);
    }
  }

  static void expect_narrow(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }),
                120)
          << line;
  }

  std::vector<std::string> commits_;
  const std::vector<double> slower_{0.0100, 0.0101, 0.0100, 0.0100, 0.0120, 0.0120, 0.0119, 0.0120};
  const std::vector<double> bytes_{64, 64, 64, 64, 64, 64, 64, 128};
};

TEST_F(HistoryCommand, ARegressionIsDrawnSizedAndOpen) {
  store(slower_);
  const Ended ended = type("history step");
  EXPECT_EQ(ended.exit, 1) << ended.err;
  for (const char* part :
       {"step_seconds of vit", "c0000003 .. c0000004", "10 ms", "12 ms", "+20.0 %", "open",
        "git log --oneline c0000003..c0000004",
        "shardlab history step --accept c0000004 --note 'why'", "1 series: 1 with an open"})
    EXPECT_TRUE(has(ended.out, part)) << part << " is not in\n" << ended.out;
  expect_narrow(ended.out);
  expect_narrow(type("history step --ascii").out);
}

TEST_F(HistoryCommand, AcceptingAShiftEndsItAndReopeningBringsItBack) {
  store(slower_, bytes_);
  expect("history step --accept c0000004", 2, "say why with --note");
  expect("history step --note text", 2, "--note belongs to --accept");
  expect("history step --accept c0000001 --note text", 2, "shifts are at c0000004");
  const std::string before = text_of(folder_.path("shardlab.sqlite"));
  EXPECT_EQ(type("history step").exit, 1);
  EXPECT_EQ(text_of(folder_.path("shardlab.sqlite")), before) << "reading changed the file";
  const Ended accepted = type("history step --accept c0000004 --note 'sums in\nfloat64'");
  EXPECT_EQ(accepted.exit, 0) << accepted.err;
  EXPECT_TRUE(has(accepted.err, "accepted a shift of 1 series at c0000004")) << accepted.err;
  EXPECT_TRUE(has(accepted.out, "accepted  sums in float64")) << accepted.out;
  EXPECT_EQ(type("history step").exit, 0);
  EXPECT_EQ(type("history bytes").exit, 1) << "a mark is of one metric";
  EXPECT_EQ(type("history step --reopen c0000004").exit, 1);
}

TEST_F(HistoryCommand, OfBytesEveryOneCounts) {
  store(slower_, bytes_);
  const Ended ended = type("history bytes");
  EXPECT_EQ(ended.exit, 1);
  EXPECT_TRUE(has(ended.out, "64 B") && has(ended.out, "128 B") &&
              has(ended.out, "+64 B, +100.0 %"))
      << ended.out;
}

TEST_F(HistoryCommand, JsonHoldsPointsShiftsAndVerdict) {
  store(slower_);
  const Json chart = Json::parse(type("history step --json").out)["charts"].at(0);
  EXPECT_EQ(chart["metric"], "step_seconds");
  EXPECT_EQ(chart["points"].size(), 8U);
  EXPECT_EQ(chart["points"][7]["value"], 0.012);
  EXPECT_EQ(chart["shifts"].size(), 1U);
  EXPECT_EQ(chart["shifts"][0]["last_good"], "c0000003");
  EXPECT_EQ(chart["shifts"][0]["first_bad"], "c0000004");
  EXPECT_EQ(chart["shifts"][0]["state"], "open");
  EXPECT_EQ(chart["verdict"], "worse");
}

TEST_F(HistoryCommand, AnotherMachineIsSaidAndHasItsOwnChart) {
  store({0.01, 0.01, 0.01, 0.01});
  store({0.02, 0.02, 0.02, 0.02}, {}, "vit", "other CPU");
  const Ended ended = type("history step");
  EXPECT_EQ(ended.exit, 0) << ended.out;
  EXPECT_TRUE(has(ended.out, "another machine than above, so a chart of its own: processor"))
      << ended.out;
}

TEST_F(HistoryCommand, TheRepositoryOfTheFolderOrdersCommits) {
  const Ended git = run_command(
      "git init -q && for i in 1 2 3 4; do git -c user.name=a -c user.email=a@b.c commit -q "
      "--allow-empty -m $i; done && git rev-list --reverse HEAD",
      folder_);
  if (git.exit != 0) GTEST_SKIP() << "no git: " << git.err;
  std::istringstream lines(git.out);
  std::vector<std::string> order;
  for (std::string line; std::getline(lines, line);) order.push_back(line);
  ASSERT_EQ(order.size(), 4U);
  commits_ = {order[0], order[3], order[1], order[2]};
  store({0.01, 0.01, 0.01, 0.01});
  const auto commits = [&](const std::string& words) {
    std::vector<std::string> found;
    const Json json = Json::parse(type(words).out);
    for (const Json& point : json["charts"][0]["points"]) found.push_back(point["commit"]);
    return found;
  };
  EXPECT_EQ(commits("history step --json"), order);
  EXPECT_EQ(commits("history step --json --order time"), commits_);
}

TEST_F(HistoryCommand, SeriesWithoutAShiftAreATableWhereThereAreMany) {
  for (const char* scenario : {"a", "b", "c", "d"}) store({0.01, 0.01, 0.01, 0.01}, {}, scenario);
  store(slower_);
  const Ended ended = type("history step");
  EXPECT_TRUE(has(ended.out, "without a shift") && has(ended.out, "step_seconds of vit"))
      << ended.out;
  EXPECT_FALSE(has(ended.out, "step_seconds of a")) << ended.out;
  EXPECT_TRUE(has(type("history step --all").out, "step_seconds of a"));
  EXPECT_EQ(type("history step --scenario a").exit, 0);
}

TEST_F(HistoryCommand, FewCommitsAreNotEnough) {
  store({0.01, 0.02, 0.02});
  const Ended ended = type("history step");
  EXPECT_EQ(ended.exit, 3);
  EXPECT_TRUE(has(ended.out, "too few commits: 3; at least 4 are needed")) << ended.out;
}

TEST_F(HistoryCommand, WordsThatMeanNothingNameTheNearest) {
  expect("history step", 4, "shardlab.sqlite");
  store(slower_);
  expect("history stpe_seconds", 2, "did you mean 'step_seconds'?");
  expect("history step --scenario vti", 2, "did you mean 'vit'?");
  expect("history step --where dtyp=float32", 2, "did you mean 'dtype'?");
  expect("history step --where dtype", 2, "expected FIELD=VALUE");
  expect("history step --flor 3", 2, "did you mean --floor?");
  expect("history step --order date", 2, "expected git or time");
  expect("histroy step", 2, "did you mean 'history'?");
}

}  // namespace
}  // namespace shardlab::test
