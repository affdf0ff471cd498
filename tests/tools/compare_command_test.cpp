#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "results/query.h"
#include "results/store.h"
#include "tests/tools/typed.h"

namespace shardlab::test {
namespace {

class CompareCommand : public Typed {
 protected:
  void measure(const std::string& database, const std::string& more = "") {
    const Ended run =
        type("run vit --preset tiny --ranks 1,2 --train --iterations 6 --db " + database + more);
    ASSERT_EQ(run.exit, 0) << run.err;
  }

  /// Copies the newest run of a file, its messages of `op` in `scope` `more` bytes longer.
  void plant(const std::string& from, const std::string& to, const std::string& op,
             std::int64_t more) {
    const auto reader = results::open_for_reading(folder_.path(from).string());
    const auto newest = results::list_runs(reader).front();
    results::StoredRun run = results::read_run(reader, newest.id);
    results::Timeline timeline = results::read_timeline(reader, newest.id);
    const auto step = std::find_if(timeline.steps.begin(), timeline.steps.end(),
                                   [&](const results::Step& each) { return each.op == op; });
    ASSERT_NE(step, timeline.steps.end());
    step->bytes += more;
    for (results::MetricSamples& metric : run.rows.metrics)
      if (metric.metric == results::bytes_sent())
        metric.samples.front().value += static_cast<double>(more);
    run.header.created.clear();
    results::Store store(folder_.path(to).string());
    const results::RunId id = store.start_run(run.header);
    store.append(id, run.rows);
    store.append(id, timeline);
    store.finish_run(id, results::RunStatus::complete);
  }
};

TEST_F(CompareCommand, EqualCommitsAreNotWorseAndExitWithZero) {
  measure("a.sqlite");
  measure("b.sqlite");
  const Ended same = type("compare a.sqlite b.sqlite");
  EXPECT_EQ(same.exit, 0) << same.out << same.err;
  EXPECT_FALSE(has(same.out, "worse")) << same.out;
  EXPECT_TRUE(has(same.out, "same: ")) << same.out;
  std::istringstream lines(same.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120U) << line;
  const auto json = nlohmann::json::parse(type("compare a.sqlite b.sqlite --json").out);
  EXPECT_EQ(json["counts"]["worse"], 0);
  EXPECT_GT(json["counts"]["same"], 10);
  EXPECT_EQ(json["base"], "a.sqlite");
}

TEST_F(CompareCommand, APlantedGrowthOfAMessageIsNamedWithItsCollective) {
  measure("a.sqlite");
  plant("a.sqlite", "b.sqlite", "all_reduce", 64);
  const Ended grown = type("compare 2 b.sqlite --db a.sqlite --markdown c.md --junit c.xml");
  EXPECT_EQ(grown.exit, 1) << grown.out << grown.err;
  EXPECT_TRUE(has(grown.out, "bytes_sent")) << grown.out;
  EXPECT_TRUE(has(grown.out, "64 B more")) << grown.out;
  EXPECT_TRUE(has(grown.out, "all_reduce over domain in head sends 64 B more")) << grown.out;
  EXPECT_TRUE(has(text_of(folder_.path("c.md")), "sends 64 B more"));
  EXPECT_TRUE(has(text_of(folder_.path("c.xml")), "<failure"));
  const Ended back = type("compare b.sqlite 2 --db a.sqlite");
  EXPECT_EQ(back.exit, 0) << back.out;
  EXPECT_TRUE(has(back.out, "better")) << back.out;
}

TEST_F(CompareCommand, SidesAreFilesRunsCommitsBranchesAndDates) {
  results::Store store(folder_.path("shardlab.sqlite").string());
  results::RunHeader header;
  header.series.scenario = "vit";
  for (const auto& [commit, branch, created] :
       {std::tuple{"0123456789abcdef", "main", "2031-02-03T04:05:06.000000Z"},
        std::tuple{"fedcba9876543210", "topic", "2031-02-04T04:05:06.000000Z"}}) {
    header.commit = commit;
    header.branch = branch;
    header.created = created;
    const results::RunId run = store.start_run(header);
    store.append(run, {.metrics = {{results::flop(), {{.rank = 0, .value = 8}}}}});
    store.finish_run(run, results::RunStatus::complete);
  }
  for (const char* sides : {"1 2", "0123456 fedcba98", "main topic", "2031-02-03 2031-02-04",
                            "2031-02-03T04 shardlab.sqlite"}) {
    const Ended ended = type(std::string("compare ") + sides);
    EXPECT_EQ(ended.exit, 0) << sides << ended.err;
    EXPECT_TRUE(has(ended.out, "1 same")) << sides << ended.out;
  }
  expect("compare main topik", 2, "no run, commit, branch or date 'topik' in it");
  expect("compare 2031-02-05 1", 2,
         "no run of 2031-02-05; the last day with runs before it is "
         "2031-02-04");
  expect("compare 1 3", 2, "no run, commit, branch or date '3'");
}

TEST_F(CompareCommand, BadInputNamesWhatIsWrong) {
  measure("a.sqlite");
  std::ofstream(folder_.path("noise.sqlite")) << "no database at all, but a text";
  std::filesystem::copy(folder_.path("a.sqlite"), folder_.path("short.sqlite"));
  std::filesystem::resize_file(folder_.path("short.sqlite"), 5000);
  expect("compare a.sqlite", 2, "takes two sides");
  expect("compare a.sqlite noise.sqlite", 4, "noise.sqlite");
  expect("compare a.sqlite short.sqlite", 4, "short.sqlite");
  expect("compare a.sqlite a.sqlite --allow procesor", 2, "did you mean 'processor'?");
  expect("compare a.sqlite a.sqlite --flor 3", 2, "did you mean --floor?");
  expect("compare a.sqlite a.sqlite --floor 0", 2, "--floor 0: expected a part");
  expect("compare a.sqlite --ab true true", 2, "takes no sides");
  expect("compare --ab true ''", 2, "an empty command");
  expect("compare --ab 'exit 3' true --pairs 2", 4, "command A ended with 3");
  expect("compare 1 2 --db a.sqlite", 3, "they differ in mesh");
}

TEST_F(CompareCommand, TwoCommandsAreRunInTurnsAndTimed) {
  const Ended slow = type("compare --ab 'sleep 0.05' 'sleep 0.4' --pairs 7 --json");
  EXPECT_EQ(slow.exit, 1) << slow.out << slow.err;
  const auto json = nlohmann::json::parse(slow.out);
  EXPECT_EQ(json["findings"][0]["metric"], "wall_seconds");
  EXPECT_EQ(json["findings"][0]["base"]["samples"], 7);
  EXPECT_GT(json["findings"][0]["ratio"], 1.5);
}

TEST_F(CompareCommand, RunsOfTwoCommandsAreComparedByTheirOwnTimes) {
  const std::string run = "'" SHARDLAB_BINARY " run vit --preset tiny --iterations 3";
  const Ended ended =
      type("compare --ab " + run + "' " + run + " --depth 3' --pairs 2 --allow parameters --json");
  EXPECT_EQ(ended.exit, 1) << ended.out << ended.err;
  const auto json = nlohmann::json::parse(ended.out);
  bool flop = false;
  for (const auto& finding : json["findings"])
    flop = flop || (finding["metric"] == "flop" && finding["verdict"] == "worse" &&
                    has(finding["causes"].dump(), "in block2 has "));
  EXPECT_TRUE(flop) << ended.out;
  expect("compare --ab " + run + " --db x.sqlite' true", 2, "leave out --db");
}

}  // namespace
}  // namespace shardlab::test
