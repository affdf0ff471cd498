#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "results/query.h"
#include "results/turns.h"
#include "tests/tools/typed.h"

namespace shardlab::test {
namespace {

const std::string run = SHARDLAB_BINARY " run vit --preset tiny ";

class AbCommandLine : public Typed {
 protected:
  std::vector<results::StoredRun> runs_of(const std::string& database) {
    const auto reader = results::open_for_reading(folder_.path(database).string());
    std::vector<results::StoredRun> runs;
    for (const results::RunInfo& info : results::list_runs(reader))
      runs.push_back(results::read_run(reader, info.id));
    return runs;
  }

  static std::int64_t timed(const results::StoredRun& run) {
    for (const results::MetricSamples& metric : run.rows.metrics)
      if (metric.metric == results::step_seconds())
        return std::count_if(
            metric.samples.begin(), metric.samples.end(),
            [](const results::Sample& each) { return !each.warmup && each.rank == 0; });
    return 0;
  }
};

// A step of the preset takes far less than the 10 ms of a turn, so that 30 of them are few turns.
TEST_F(AbCommandLine, RunsOfBothTakeTurnsAndAreKeptInPairs) {
  const Ended ended = type("compare --ab '" + run + "--ranks 1,2 --iterations 30' '" + run +
                           "--ranks 1,2' --pairs 2 --keep 'a b.sqlite' b.sqlite");
  EXPECT_LE(ended.exit, 3) << ended.err;
  EXPECT_TRUE(has(ended.out, "2 pairs of starts, each in turns")) << ended.out;
  const auto base = runs_of("a b.sqlite"), next = runs_of("b.sqlite");
  ASSERT_EQ(base.size(), 4U) << "two meshes in each pair; the first pair does not count";
  ASSERT_EQ(next.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto mine = results::turns_of(base[i].header.state);
    const auto other = results::turns_of(next[i].header.state);
    ASSERT_TRUE(mine && other);
    EXPECT_EQ(mine->pair, other->pair);
    EXPECT_EQ(mine->pair == results::turns_of(base[0].header.state)->pair, i < 2);
    EXPECT_EQ(std::reduce(mine->lengths.begin(), mine->lengths.end()), 30);
    EXPECT_EQ(timed(base[i]), 30);
    EXPECT_EQ(other->lengths.size(), 50U) << "nobody said how many";
    EXPECT_EQ(std::reduce(other->lengths.begin(), other->lengths.end()), timed(next[i]));
    for (const std::int64_t length : other->lengths) EXPECT_GE(length, 1);
  }
  const auto typed = nlohmann::json::parse(type("compare 'a b.sqlite' b.sqlite --json").out);
  for (const auto& finding : typed["findings"])
    if (finding["metric"] == "step_seconds") {
      EXPECT_EQ(finding["base"]["samples"], 2) << "pairs, also when they are read again";
    }
}

// An older build does not know the variable, as one from whose environment it is taken.
TEST_F(AbCommandLine, ABuildThatTakesNoTurnsRunsAfterTheOther) {
  const std::string old = "env -u SHARDLAB_TURNS " + run + "--iterations 3";
  const Ended ended = type("compare --ab '" + old + "' '" + run +
                           "--iterations 3' --pairs 3 --keep a.sqlite b.sqlite --json");
  EXPECT_LE(ended.exit, 3) << ended.err;
  EXPECT_TRUE(has(ended.out, "3 pairs, one after the other")) << ended.out;
  const auto base = runs_of("a.sqlite"), next = runs_of("b.sqlite");
  ASSERT_EQ(base.size(), 3U);
  ASSERT_EQ(next.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(results::turns_of(base[i].header.state)->pair,
              results::turns_of(next[i].header.state)->pair);
  for (const auto& finding : nlohmann::json::parse(ended.out)["findings"])
    if (finding["metric"] == "step_seconds") {
      EXPECT_EQ(finding["base"]["samples"], 3);
    }
}

TEST_F(AbCommandLine, WhatIsSkippedIsSaidAndTheOthersCompared) {
  const std::string both = run + "--iterations 3 --dtype float32,bfloat16";
  const Ended ended = type("compare --ab '" + both + "' '" + both + "' --pairs 2");
  EXPECT_LE(ended.exit, 3) << ended.err;
  EXPECT_TRUE(has(ended.out, "12 same")) << ended.out << ended.err;
  EXPECT_TRUE(has(ended.out, "vit domain=1, bfloat16: no run of it is complete: skipped: "))
      << ended.out;
  expect("compare --ab '" + run + "--on cuda' '" + run + "' --pairs 2", 4,
         "command A ended with 3: ");
}

TEST_F(AbCommandLine, ACommandThatFailsEndsBoth) {
  expect("compare --ab '" + run + "--iterations 100' '" + run + "--heads 3' --pairs 2", 4,
         "command B ended with 2: ");
  expect("compare --ab 'exit 3' true --pairs 2", 4, "command A ended with 3");
  expect("compare --ab 'kill -9 $$' true --pairs 2", 4, "command A was ended by signal 9");
}

/// Starts `command` in the background, sends it a signal when both `files` are there, and prints
/// how it ended, what is left in its temporary folder and the processes that have its environment.
std::string ended_by(const std::string& signal, const std::string& command,
                     const std::array<std::string, 2>& files) {
  return "mkdir temporary; TMPDIR=$PWD/temporary " SHARDLAB_BINARY " " + command +
         " & program=$!; until [ -e " + files[0] + " ] && [ -e " + files[1] +
         " ]; do sleep 0.01; done; kill -" + signal +
         " $program; wait $program; echo ended with $?; ls temporary; "
         "grep -ls TMPDIR=$PWD/temporary /proc/[0-9]*/environ; true";
}

// A shell says 128 and the signal of a program that a signal has ended.
TEST_F(AbCommandLine, ASignalEndsBothCommandsAndLeavesNothingBehind) {
  const std::string endless = run + "--iterations 1000000000";
  const Ended ended =
      run_command(ended_by("TERM", "compare --ab '" + endless + "' '" + endless + "'",
                           {"temporary/*/A-warm-up", "temporary/*/B-warm-up"}),
                  folder_);
  EXPECT_EQ(ended.out, "ended with 143\n") << ended.err;
}

TEST_F(AbCommandLine, ASignalEndsWhatACommandHasStarted) {
  const std::string nested = "sleep 60 & echo > started; wait";
  const Ended ended = run_command(
      ended_by("HUP", "compare --ab '" + nested + "' true", {"started", "started"}), folder_);
  EXPECT_EQ(ended.out, "ended with 129\n") << ended.err;
}

TEST_F(AbCommandLine, OnlyWhatIsSlowerTwiceIsConfirmed) {
  const Ended slow = type("compare --ab 'sleep 0.05' 'sleep 0.4' --pairs 7 --confirm");
  EXPECT_EQ(slow.exit, 1) << slow.out;
  EXPECT_TRUE(has(slow.out, "a second set of pairs confirms it")) << slow.out;
  // B is slow eight times, which are the pair that does not count and the first seven.
  const auto script = [&](const std::string& name, const std::string& slow_times) {
    std::ofstream(folder_.path(name))
        << "echo >> " << name << "-calls; [ $(wc -l < " << name << "-calls) -gt " << slow_times
        << " ] || sleep 0.2; sleep 0.1\n";
  };
  script("a", "0");
  script("b", "8");
  const Ended once = type("compare --ab 'sh a' 'sh b' --pairs 7 --confirm");
  EXPECT_EQ(once.exit, 0) << once.out;
  EXPECT_TRUE(has(once.out, "a second set of pairs does not confirm it")) << once.out;
  EXPECT_TRUE(has(once.out, "undecided")) << once.out;
}

TEST_F(AbCommandLine, KeepsNothingOverWhatIsThere) {
  std::ofstream(folder_.path("there")) << "mine";
  expect("compare --ab true true --keep there b.sqlite", 2, "--keep there: is there already");
  expect("compare --ab true true --pairs 1", 2, "--pairs 1: at least 2");
  EXPECT_EQ(text_of(folder_.path("there")), "mine");
  const std::string late = "compare --ab 'echo > ran' true --keep ";
  expect(late + "a.sqlite none/b.sqlite", 2, "--keep none/b.sqlite: No such file");
  expect(late + "a.sqlite ./a.sqlite", 2, "a.sqlite and ./a.sqlite for both commands");
  EXPECT_FALSE(std::filesystem::exists(folder_.path("ran"))) << "nothing was measured in vain";
  expect("compare a.sqlite b.sqlite --keep c d", 2, "need --ab");
  expect("compare a.sqlite b.sqlite --confirm", 2, "need --ab");
}

}  // namespace
}  // namespace shardlab::test
