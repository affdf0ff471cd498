#include "tools/probe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "engine/core/error.h"
#include "engine/launch/launch.h"
#include "engine/sim/machine_prices.h"
#include "engine/sim/machine_toml.h"
#include "results/query.h"
#include "results/store.h"
#include "scenarios/all.h"
#include "tools/environment.h"
#include "tools/predict.h"
#include "tools/probe_store.h"
#include "tools/request.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

/// A probe of small sizes, made once.
const Probed& small_probe() {
  static const Probed probed = [] {
    ProbeOptions options;
    options.point_seconds = 1e-3;
    options.most_width = 64;
    options.most_tokens = 64;
    options.most_bytes = 64 << 10;
    options.most_ranks = 2;
    return probe_machine(options, [](const std::string&) {});
  }();
  return probed;
}

class ProbeStore : public testing::Test {
 protected:
  void SetUp() override { fs::remove(path_); }
  void TearDown() override { fs::remove(path_); }

  std::string path_ = (fs::path(testing::TempDir()) /
                       (std::string("probe_") +
                        testing::UnitTest::GetInstance()->current_test_info()->name() + ".sqlite"))
                          .string();
};

TEST(Probe, TheMedianAndTheSpreadOfSamplesAreTaken) {
  const ProbedPoint point = probed(7, {5, 1, 3});
  EXPECT_EQ(point.size, 7);
  EXPECT_EQ(point.seconds, 3);
  EXPECT_DOUBLE_EQ(point.spread, 2.0 / 3);
  // Of eleven samples the first and the last are left out: (9 - 1) / 2 / 5.
  EXPECT_DOUBLE_EQ(probed(7, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1000}).spread, 0.8);
}

TEST(Probe, AMachineIsCompleteAndReadsBackEqual) {
  const sim::Machine& machine = small_probe().machine;
  EXPECT_TRUE(sim::missing(machine).empty());
  EXPECT_EQ(sim::read_machine({"other", "other.toml", sim::to_toml(machine)}), machine);
  EXPECT_EQ(machine.word("gpu.arch"), "cpu");
  EXPECT_EQ(machine.value("nvlink.domain"), usable_cores());
}

TEST(Probe, EveryNumberAndCurveIsMeasuredHere) {
  const sim::Machine& machine = small_probe().machine;
  for (const auto& [path, number] : machine.numbers)
    EXPECT_EQ(number.source, sim::Source::user_measured) << path;
  for (const char* op : {"add", "gelu_erf", "adamw", "attention_merge", ""})
    EXPECT_TRUE(std::any_of(machine.curves.begin(), machine.curves.end(), [op](const auto& curve) {
      return curve.family == sim::Family::pointwise && curve.op == op;
    })) << op;
  EXPECT_EQ(machine.has("host.busy_compute"), usable_cores() > 1);
  for (const sim::Curve& curve : machine.curves) {
    EXPECT_EQ(curve.source, sim::Source::user_measured);
    for (const auto& [size, rate] : curve.points) EXPECT_GT(rate, 0);
  }
}

TEST(Probe, EveryCollectiveHasACurveOnTwoRanks) {
  if (usable_cores() < 2) GTEST_SKIP() << "one core";
  for (const char* collective :
       {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send_recv"}) {
    const auto& curves = small_probe().machine.collectives;
    const auto found = std::find_if(curves.begin(), curves.end(), [&](const auto& curve) {
      return curve.collective == collective && curve.ranks == 2 && curve.hosts == 1;
    });
    ASSERT_NE(found, curves.end()) << collective;
    // 1, 4, 16 and 64 KiB.
    EXPECT_EQ(found->points.size(), 4U);
  }
}

TEST(Probe, AScenarioIsPredictedOnIt) {
  Scenarios scenarios;
  add_all_scenarios(scenarios);
  const Scenario& vit = scenarios.find("vit");
  PredictOptions options;
  options.machine = small_probe().machine;
  options.profile = sim::find_profile("shardlab");
  const Params params = vit.preset("tiny");
  const Prediction alone = predict(vit, params, Mesh({{"domain", 1}}), options);
  EXPECT_GT(alone.simulated.seconds, 0);
  EXPECT_EQ(alone.weakest, sim::Source::user_measured);
  if (usable_cores() < 2) return;
  EXPECT_GT(predict(vit, params, Mesh({{"domain", 2}}), options).simulated.seconds, 0);
}

TEST_F(ProbeStore, WithoutAProbeTheCommandThatMakesOneIsNamed) {
  for (const bool empty : {false, true}) {
    if (empty) results::Store store(path_);
    try {
      (void)newest_probe(path_);
      FAIL() << "a probe was found";
    } catch (const Error& error) {
      EXPECT_EQ(exit_of(error.fault()), Exit::not_comparable);
      EXPECT_NE(std::string(error.what()).find("shardlab probe"), std::string::npos);
    }
  }
}

TEST_F(ProbeStore, TheNewestProbeIsFound) {
  Probed probed = small_probe();
  store_probe(probed, path_, "shardlab probe");
  probed.machine.numbers["gpu.launch"].value = 3e-6;
  store_probe(probed, path_, "shardlab probe");
  EXPECT_EQ(newest_probe(path_), probed.machine);
}

TEST_F(ProbeStore, AProbeOfAnotherMachineIsNotFound) {
  store_probe(small_probe(), path_, "shardlab probe");
  {
    results::Store store(path_);
    results::RunHeader header;
    header.series.scenario = "probe";
    header.environment = this_environment();
    header.environment.processor = "another processor x 1";
    header.layouts = "not this one";
    store.finish_run(store.start_run(header), results::RunStatus::complete);
  }
  EXPECT_EQ(newest_probe(path_), small_probe().machine);
}

}  // namespace
}  // namespace shardlab
