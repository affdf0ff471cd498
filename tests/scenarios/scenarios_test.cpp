#include <gtest/gtest.h>

#include <cctype>
#include <fstream>
#include <sstream>

#include "engine/core/check.h"
#include "engine/dispatch/worker.h"
#include "scenarios/all.h"
#include "tools/executions.h"
#include "tools/measure.h"
#include "tools/scaling.h"

namespace shardlab {
namespace {

Scenarios all() {
  Scenarios scenarios;
  add_all_scenarios(scenarios);
  return scenarios;
}

/// The steps of one training step of a tiny scenario on every rank, as text.
std::string trace_of(const Execution& execution, const std::string& name, const Mesh& mesh) {
  const Scenarios scenarios = all();
  const Scenario& scenario = scenarios.find(name);
  Params params = scenario.preset("tiny");
  params.train = true;
  MeasureOptions options;
  options.launch.mesh = mesh;
  options.iterations = 1;
  options.timeline = true;
  const Measurement measurement = measure(execution, scenario, params, options);
  std::string text;
  for (std::size_t r = 0; r < measurement.ranks.size(); ++r)
    text += fmt::format("rank {}\n{}", r, to_text(measurement.ranks[r].trace));
  return text;
}

class GoldenTrace : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(GoldenTrace, EqualsTheStoredOneUnderMeta) {
  const auto& [name, mesh] = GetParam();
  const std::string file =
      fmt::format("{}/tests/scenarios/golden/{}-{}.txt", SHARDLAB_SOURCE_DIR, name, mesh);
  const std::string trace = trace_of(meta_execution(), name, Mesh::parse(mesh));
  std::ifstream stream(file);
  std::ostringstream stored;
  stored << stream.rdbuf();
  if (stored.str() == trace) return;
  const std::string actual = testing::TempDir() + fmt::format("{}-{}.txt", name, mesh);
  std::ofstream(actual) << trace;
  FAIL() << "the trace differs; see what changed with\n  diff " << file << " " << actual
         << "\nand accept it with\n  cp " << actual << " " << file;
}

TEST_P(GoldenTrace, IsTheSameOnRealRanks) {
  const auto& [name, mesh] = GetParam();
  EXPECT_EQ(trace_of(cpu_execution(), name, Mesh::parse(mesh)),
            trace_of(meta_execution(), name, Mesh::parse(mesh)));
}

INSTANTIATE_TEST_SUITE_P(Tiny, GoldenTrace,
                         testing::Combine(testing::Values("vit", "ring_attention"),
                                          testing::Values("domain=1", "domain=3",
                                                          "data=2,domain=2")),
                         [](const auto& tested) {
                           std::string name = fmt::format("{}_{}", std::get<0>(tested.param),
                                                          std::get<1>(tested.param));
                           for (char& c : name)
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           return name;
                         });

TEST(Vit, PaperCountsThePublishedParametersAndFlop) {
  const Scenarios scenarios = all();
  const Scenario& vit = scenarios.find("vit");
  for (const auto& [preset, expected] : std::vector<std::pair<const char*, std::int64_t>>{
           {"paper", 126907624}, {"small", 15269992}}) {
    std::int64_t parameters = 0;
    launch(meta_execution(), {}, [&](Worker& worker, int) {
      const auto program = vit.start(worker, vit.preset(preset));
      for (const Tensor& parameter : worker.parameters()) parameters += parameter.shape().count();
    });
    EXPECT_EQ(parameters, expected) << preset;
  }
  // 2 N 192 W + 16 (24 N W^2 + 4 N^2 W) + 2 W 1000 with N = 16384, W = 768.
  EXPECT_NEAR(vit.forward_flop(vit.preset("paper")), 16.9e12, 0.05e12);
  EXPECT_NEAR(3 * vit.forward_flop(vit.preset("small")), 127.4e9, 0.05e9);
}

/// Shapes of the parts that a rank has of its parameters and of what a step hands out.
std::vector<std::string> parts_of_rank(const Scenario& scenario, const Params& params,
                                       const Mesh& mesh, int wanted) {
  std::vector<std::string> parts;
  LaunchOptions options;
  options.mesh = mesh;
  launch(meta_execution(), options, [&](Worker& worker, int rank) {
    const auto program = scenario.start(worker, params);
    const std::vector<Named> results = program->step(false);
    if (rank != wanted) return;
    for (const Tensor& parameter : worker.parameters())
      parts.push_back(to_string(parameter.state().view.shape));
    for (const Named& named : results)
      parts.push_back(named.name + to_string(named.value.state().view.shape));
  });
  return parts;
}

TEST(WeakScaling, GivesEveryRankThePartsOfOneRankAlone) {
  const Scenarios scenarios = all();
  for (const auto& [name, scenario] : scenarios.all()) {
    const Params one_rank = scenario.preset("tiny");
    const std::vector<std::string> alone =
        parts_of_rank(scenario, one_rank, Mesh({{"domain", 1}}), 0);
    for (const char* text : {"domain=3", "data=2", "data=2,domain=2"}) {
      const Mesh mesh = Mesh::parse(text);
      for (int rank = 0; rank < mesh.size(); ++rank)
        EXPECT_EQ(parts_of_rank(scenario, grown(scenario, one_rank, mesh), mesh, rank), alone)
            << name << " on " << text << ", rank " << rank;
    }
  }
}

TEST(Vit, TrainingLowersTheLossOfOneBatch) {
  const Scenarios scenarios = all();
  const Scenario& vit = scenarios.find("vit");
  Params params = vit.preset("tiny");
  params.train = true;
  MeasureOptions options;
  options.launch.mesh = Mesh({{"domain", 2}});
  options.iterations = 20;
  const Measurement measurement = measure(cpu_execution(), vit, params, options);
  ASSERT_EQ(measurement.losses.size(), 21U);
  EXPECT_LT(measurement.losses.back(), measurement.losses.front() - 0.1);
}

TEST(Memory, AfterAStepOnlyParametersOptimizerAndInputsLive) {
  const Scenarios scenarios = all();
  const Scenario& vit = scenarios.find("vit");
  Params params = vit.preset("tiny");
  params.train = true;
  launch(cpu_execution(), {}, [&](Worker& worker, int) {
    const auto program = vit.start(worker, params);
    const std::int64_t before = worker.backend().ledger().live();
    (void)program->step(false);
    EXPECT_EQ(worker.backend().ledger().live(), before);
  });
}

}  // namespace
}  // namespace shardlab
