#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/launch/launch.h"
#include "engine/sim/machine_toml.h"
#include "engine/sim/machines.h"
#include "results/store.h"
#include "tests/tools/typed.h"
#include "tools/environment.h"

namespace shardlab::test {
namespace {

using Json = nlohmann::json;

/// A machine file of this processor, and databases of its runs.
class CalibrateDatabase : public Typed {
 protected:
  /// Every rate is one number, in bytes or flop per second.
  void write_machine(double rate = 2e10) {
    std::ofstream file(folder_.path("base.toml"));
    file << "gpu.name = \"" << processor_name() << "\"\ngpu.arch = \"cpu\"\nhost.cpu = \"intel\"\n";
    const auto number = [&file](const char* path, double value, const char* unit) {
      file << path << " = { value = " << value << ", unit = \"" << unit
           << "\", source = \"derived\" }\n";
    };
    number("gpu.memory", 1e10, "B");
    number("gpu.memory_bandwidth", rate, "B/s");
    number("gpu.launch", 0, "s");
    number("host.launch", 0, "s");
    for (const char* peak : {"float64", "float32", "bfloat16", "float16"})
      number((std::string("gpu.peak.") + peak).c_str(), rate, "FLOP/s");
    file << "host.gpus = { value = 2, source = \"derived\" }\n"
            "nvlink.domain = { value = 2, source = \"derived\" }\n"
            "nic.count = { value = 0, source = \"derived\" }\n";
  }

  /// A run with so many kernels of each size, made by hand.
  void store(results::RunHeader header, double seconds, int kernels = 4) {
    results::Store store(folder_.path("hand.sqlite").string());
    const results::RunId run = store.start_run(header);
    results::Timeline timeline;
    double at = 0;
    for (int i = 0; i < kernels; ++i)
      for (const double factor : {1.0, 4.0, 16.0}) {
        results::Step step;
        step.ordinal = static_cast<std::int64_t>(timeline.steps.size());
        step.op = "add";
        step.lane = "compute";
        step.begin_seconds = at;
        step.end_seconds = at + factor * seconds;
        step.bytes = static_cast<std::int64_t>(factor * (1 << 20));
        at = step.end_seconds;
        timeline.steps.push_back(step);
      }
    store.append(run, timeline);
    store.finish_run(run, results::RunStatus::complete);
  }

  static results::RunHeader header_of() {
    results::RunHeader header;
    header.series.scenario = "vit";
    header.series.mesh = "domain=1";
    header.environment = this_environment();
    return header;
  }

  /// An exit code with a part of what stderr says, of `calibrate` with these words.
  void refused(const std::string& words, int exit, const std::string& text) {
    expect("calibrate " + words + " -o mine.toml", exit, text);
    EXPECT_FALSE(std::filesystem::exists(folder_.path("mine.toml")));
  }
};

TEST_F(CalibrateDatabase, RealRunsCorrectAMachineThatIsThenPredictedOn) {
  // About what a core does with kernels of some kilobytes.
  write_machine(2e9);
  ASSERT_EQ(type("run vit --preset tiny --ranks 1 --train --iterations 1").exit, 0);
  ASSERT_EQ(type("run vit --preset tiny --ranks 1 --iterations 1").exit, 0);
  const Ended ended = type("calibrate ./base.toml --from shardlab.sqlite -o mine.toml");
  ASSERT_EQ(ended.exit, 0) << ended.err;
  for (const char* part : {"runs 1, 2", "error", "corrected", "left out", "wrote mine.toml"})
    EXPECT_TRUE(has(ended.out, part)) << part << " is not in\n" << ended.out;
  const sim::Machine mine = sim::find_machine(folder_.path("mine.toml").string());
  ASSERT_FALSE(mine.curves.empty());
  for (const sim::Curve& curve : mine.curves) {
    EXPECT_EQ(curve.source, sim::Source::user_measured);
    EXPECT_TRUE(has(curve.from, "runs 1, 2 in shardlab.sqlite, measured 20")) << curve.from;
    EXPECT_GT(curve.half_width, 0);
  }
  EXPECT_EQ(
      type("predict vit --preset tiny --train --ranks 1 --machine ./mine.toml --db p.sqlite").exit,
      0);
}

TEST_F(CalibrateDatabase, PlantedTimesAreFoundToTheDigit) {
  // 1 MiB at 20 GB/s takes 52.4288 us; planted are 104.8576.
  write_machine();
  store(header_of(), 104.8576e-6);
  const Ended ended = type("calibrate ./base.toml --from hand.sqlite --json -o mine.toml");
  ASSERT_EQ(ended.exit, 0) << ended.err;
  const Json kernels = Json::parse(ended.out)["kernels"];
  ASSERT_EQ(kernels.size(), 1U);
  for (const Json& size : kernels[0]["sizes"]) {
    EXPECT_NEAR(size["ratio"].get<double>(), 2, 1e-6);
    EXPECT_NEAR(size["error"].get<double>(), 0.5, 1e-6);
    EXPECT_NEAR(size["corrected_error"].get<double>(), 0, 1e-6);
  }
  const sim::Machine mine = sim::find_machine(folder_.path("mine.toml").string());
  EXPECT_NEAR(mine.curves.at(0).points.at(0).second, 1e10, 1e4);
}

TEST_F(CalibrateDatabase, AMixOfEnvironmentsIsRefusedUnlessRunsAreChosen) {
  write_machine();
  store(header_of(), 1e-4);
  results::RunHeader other = header_of();
  other.environment.compiler = "another compiler";
  store(other, 2e-4);
  refused("./base.toml --from hand.sqlite", 3, "run 1 and run 2 differ in compiler");
  EXPECT_EQ(type("calibrate ./base.toml --from hand.sqlite --run 2 -o mine.toml").exit, 0);
  EXPECT_TRUE(has(text_of(folder_.path("mine.toml")), "run 2 in hand.sqlite"));
}

TEST_F(CalibrateDatabase, RunsWithMoreRanksThanCoresAreNeverUsed) {
  write_machine();
  results::RunHeader crowded = header_of();
  crowded.oversubscribed = true;
  store(crowded, 1e-4);
  refused("./base.toml --from hand.sqlite", 3, "run 1: more ranks than cores");
  refused("./base.toml --from hand.sqlite --run 1", 2, "more ranks than cores");
}

TEST_F(CalibrateDatabase, RunsOfAnotherProcessorOrKindAreNotUsed) {
  write_machine();
  results::RunHeader foreign = header_of();
  foreign.environment.processor = "another processor x 2";
  store(foreign, 1e-4);
  refused("./base.toml --from hand.sqlite", 3, "measured on 'another processor x 2'");
  refused("dgx-h100 --from hand.sqlite", 3, "measured on cpu, dgx-h100 is a machine of cuda");
}

TEST_F(CalibrateDatabase, RunsOnAGpuCorrectTheMachineOfThatGpu) {
  results::RunHeader header = header_of();
  header.series.execution = results::Execution::cuda;
  header.environment.processor = "NVIDIA H100 80GB HBM3 x 1";
  store(header, 1e-5);
  EXPECT_EQ(type("calibrate dgx-h100 --from hand.sqlite -o mine.toml").exit, 0);
  const Ended wrong = type("calibrate dgx-a100 --from hand.sqlite");
  EXPECT_EQ(wrong.exit, 3) << wrong.err;
}

TEST_F(CalibrateDatabase, TooFewKernelsCorrectNothing) {
  write_machine();
  store(header_of(), 1e-4, 2);
  refused("./base.toml --from hand.sqlite", 3, "2 samples, 3 are needed");
}

TEST_F(CalibrateDatabase, DatabasesWithoutMeasuredRunsSayWhatIsMissing) {
  write_machine();
  { results::Store empty(folder_.path("empty.sqlite").string()); }
  refused("./base.toml --from empty.sqlite", 3, "holds no runs; `shardlab run");
  ASSERT_EQ(type("predict vit --preset tiny --ranks 1 --machine dgx-h100").exit, 0);
  refused("./base.toml --from shardlab.sqlite", 3, "run 1: predict, not measured");
  refused("./base.toml --from shardlab.sqlite --run 1", 2, "predict, not measured");
  refused("./base.toml --from shardlab.sqlite --run 9", 2, "no run '9'");
  refused("this-cpu --from shardlab.sqlite", 3, "run `shardlab probe");
}

TEST_F(CalibrateDatabase, ForeignFilesAreRefused) {
  write_machine();
  std::ofstream(folder_.path("fake.sqlite"), std::ios::binary)
      << std::string("SQLite format 3\0", 16) << std::string(200, 'x');
  std::ofstream(folder_.path("log.txt")) << "no log\n";
  refused("./base.toml --from fake.sqlite", 2, "fake.sqlite: a SQLite database, but not one of");
  refused("dgx-h100 --from log.txt", 2, "log.txt: no row of nccl-tests");
  refused("dgx-h100 --from log.txt --run 1", 2, "--run chooses runs of a database");
  refused("./base.toml --from fake.sqlite log.txt", 2, "one database, or logs");
  refused("dgx-h100 --from .", 2, "a folder");
}

}  // namespace
}  // namespace shardlab::test
