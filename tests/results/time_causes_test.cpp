#include "results/time_causes.h"

#include <gtest/gtest.h>

#include "tests/results/noise.h"

namespace shardlab::results {
namespace {

/// A step of two blocks on two ranks: linear of 8 ms in each, gelu of 0.2 ms, a call of 1 ms.
/// `machine` scales all, `linear` and `gelu` single ops; gelu grows in block1 only.
Profile step(double machine, double linear = 1, double gelu = 1) {
  Profile profile;
  const auto add = [&](const char* op, const std::string& path, double seconds) {
    Work& work = profile.places[op + path];
    work.op = op;
    work.seconds = {{0, machine * seconds}, {1, machine * seconds}};
  };
  for (const char* path : {" in block0", " in block1"}) {
    add("linear", path, 8e-3 * linear);
    add("gelu", path, 0.2e-3 * (path[9] == '1' ? gelu : 1));
  }
  add("all_reduce over domain", " in head", 1e-3);
  return profile;
}

/// Runs on a machine that gets up to 1.4 times as slow and back, beside each other or not.
Profiles runs(std::size_t count, std::uint64_t seed, double gelu) {
  Noise noise(seed);
  Profiles all;
  for (const double machine : Noise(7).drifting(count, 1, 0.2, 0.9)) {
    // A quarter of the steps have been interrupted in linear, which is no property of the code.
    const double linear = noise.uniform() < 0.25 ? 3 : 1;
    all.push_back(step(machine * noise.steps(1, 1, 0.02).front(), linear, gelu));
  }
  return all;
}

// gelu takes 0.1 ms more, 0.5 % of the step; interruptions of 16 ms are not of one side.
TEST(TimeCauses, NameTheOpThatGrewAndNotTheOneThatWasInterrupted) {
  const std::vector<std::string> causes =
      time_causes(true, runs(20, 1, 1), runs(20, 2, 1.5), Timelines::paired);
  ASSERT_EQ(causes.size(), 1U) << causes.at(1);
  EXPECT_TRUE(causes[0].starts_with("gelu takes ")) << causes[0];
  EXPECT_NE(causes[0].find("us more a step in block1 ("), std::string::npos) << causes[0];
  EXPECT_NE(causes[0].find("in 20 traced steps"), std::string::npos) << causes[0];
}

TEST(TimeCauses, AreNoneWhereNothingGrew) {
  int told = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    told += time_causes(true, runs(20, 2 * seed, 1), runs(20, 2 * seed + 1, 1), Timelines::paired)
                    .empty()
                ? 0
                : 1;
  EXPECT_LE(told, 4) << "1 % are of chance, as one of two directions is asked for";
}

TEST(TimeCauses, OfOneStepProveNothingAndSaySo) {
  const auto causes = time_causes(true, {step(1)}, {step(1, 1, 2)}, Timelines::sampled);
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0],
            "gelu takes 200 us more a step in block1 (400 us -> 600 us, 1 traced step, which "
            "proves nothing)");
}

TEST(TimeCauses, OfPredictionsNeedNoTest) {
  const auto causes = time_causes(false, {step(1)}, {step(0.5)}, Timelines::computed);
  ASSERT_EQ(causes.size(), 3U);
  EXPECT_EQ(causes[0], "linear takes 8 ms less a step in block0, block1 (16 ms -> 8 ms)");
  EXPECT_EQ(causes[1], "all_reduce over domain takes 500 us less a step in head (1 ms -> 500 us)");
}

TEST(TimeCauses, NeedTimelinesOfAllRuns) {
  EXPECT_TRUE(time_causes(true, {step(1)}, {Profile{}}, Timelines::sampled).empty());
  EXPECT_TRUE(time_causes(true, {}, {step(1)}, Timelines::sampled).empty());
}

}  // namespace
}  // namespace shardlab::results
