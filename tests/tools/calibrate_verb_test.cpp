#include "tools/calibrate_verb.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "engine/core/error.h"
#include "engine/sim/machines.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

/// Logs of an all-reduce on 8 GPUs, written into a folder of the test's own.
class CalibrateVerb : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::path(testing::TempDir()) /
        (std::string("calibrate_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    options_.machine = "dgx-h100";
    options_.output = (folder_ / "mine.toml").string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// Two sizes of 512 MiB and 1 GiB in so many microseconds.
  std::string log(const char* name, double half_us, double us, int wrong = 0) {
    std::ofstream stream(folder_ / name);
    stream << "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n";
    for (const auto& [bytes, time] : {std::pair{536870912.0, half_us}, {1073741824.0, us}}) {
      const double rate = bytes / time * 1e-3;
      char line[256];
      std::snprintf(line, sizeof line,
                    "%.0f %.0f float sum -1 %.1f %.2f %.2f %d %.1f %.2f %.2f %d\n", bytes,
                    bytes / 4, time, rate, 1.75 * rate, wrong, time, rate, 1.75 * rate, wrong);
      stream << line;
    }
    return (folder_ / name).string() + "@8x1:all_reduce";
  }

  /// What the verb prints, or the text of its error.
  std::string outcome() {
    testing::internal::CaptureStdout();
    std::string text;
    try {
      EXPECT_EQ(calibrate_verb(options_), Exit::fine);
    } catch (const Error& error) {
      text = error.what();
    }
    return testing::internal::GetCapturedStdout() + text;
  }

  static bool has(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  }

  fs::path folder_;
  CalibrateOptions options_;
};

TEST_F(CalibrateVerb, AnOwnLogBecomesACurveOfTheMachineThatIsWritten) {
  options_.from = {log("own.txt", 2100, 4000)};
  const std::string text = outcome();
  EXPECT_TRUE(has(text, "not validated")) << text;
  const sim::Machine machine = sim::find_machine(options_.output);
  EXPECT_EQ(machine.value("gpu.memory"), sim::find_machine("dgx-h100").value("gpu.memory"));
  ASSERT_EQ(machine.collectives.size(), 1U);
  EXPECT_EQ(machine.collectives[0].source, sim::Source::user_measured);
  EXPECT_NEAR(machine.collectives[0].points.back().second, 4000e-6, 1e-12);
}

TEST_F(CalibrateVerb, AMachineGivenByItsFileIsExtendedByIt) {
  std::ofstream(folder_ / "base.toml")
      << "extends = \"dgx-h100\"\nnic.latency = { value = 7, unit = \"us\", source = \"derived\" "
         "}\n";
  options_.machine = (folder_ / "base.toml").string();
  options_.from = {log("own.txt", 2100, 4000)};
  (void)outcome();
  EXPECT_DOUBLE_EQ(sim::find_machine(options_.output).value("nic.latency"), 7e-6);
}

TEST_F(CalibrateVerb, OneSharedLogIsShownAndNotFitted) {
  options_.from = {log("public.txt", 2100, 4000)};
  options_.shared = true;
  EXPECT_TRUE(has(outcome(), "no curve"));
  EXPECT_TRUE(sim::find_machine(options_.output).collectives.empty());
}

// Two H100 of a DGX, 18 links of each through switches; the network is not shown and stays.
TEST_F(CalibrateVerb, ATopologyCorrectsTheWiresThatItShows) {
  const fs::path file = folder_ / "topo.txt";
  std::ofstream(file) << "\tGPU0\tGPU1\tGPU2\nGPU0\t X \tNV18\tNV18\nGPU1\tNV18\t X \tNV18\n"
                         "GPU2\tNV18\tNV18\t X \n";
  options_.from = {file.string()};
  const std::string text = outcome();
  EXPECT_TRUE(has(text, "host.gpus      8         3")) << text;
  const sim::Machine machine = sim::find_machine(options_.output);
  EXPECT_EQ(machine.value("host.gpus"), 3);
  EXPECT_EQ(machine.value("nvlink.domain"), 3);
  EXPECT_EQ(machine.value("nvlink.links"), 18);
  EXPECT_EQ(machine.value("nic.count"), sim::find_machine("dgx-h100").value("nic.count"));
}

TEST_F(CalibrateVerb, ATopologyStandsAlone) {
  const fs::path file = folder_ / "topo.xml";
  std::ofstream(file) << "<system><cpu></system>";
  options_.from = {file.string()};
  EXPECT_TRUE(has(outcome(), "topo.xml:1:"));
  options_.from = {file.string(), log("own.txt", 2100, 4000)};
  EXPECT_TRUE(has(outcome(), "one topology at a time"));
}

TEST_F(CalibrateVerb, AFaultyLogIsRefusedAndNothingIsWritten) {
  options_.from = {log("wrong.txt", 2100, 4000, 3)};
  const std::string text = outcome();
  EXPECT_TRUE(has(text, "wrong.txt: line 2: not to be fitted: wrong values")) << text;
  EXPECT_FALSE(fs::exists(options_.output));
}

TEST_F(CalibrateVerb, AFabricWithOneLogIsNotValidated) {
  options_.from = {log("a.txt", 2100, 4000)};
  EXPECT_TRUE(has(outcome(), "uncorrected, not validated: one log"));
  options_.from.push_back(log("b.txt", 2200, 4100));
  EXPECT_FALSE(has(outcome(), "one log"));
}

TEST_F(CalibrateVerb, ALogThatIsGivenTwiceCountsOnce) {
  const std::string once = log("a.txt", 2100, 4000);
  options_.from = {once, once, once};
  const std::string text = outcome();
  EXPECT_TRUE(has(text, "left out: the times are those of")) << text;
  EXPECT_TRUE(has(text, "uncorrected, not validated: one log")) << text;
}

TEST_F(CalibrateVerb, TwoRunsInOneFileAreNamed) {
  (void)log("a.txt", 2100, 4000);
  (void)log("b.txt", 2200, 4100);
  std::ifstream second(folder_ / "b.txt");
  std::ofstream(folder_ / "a.txt", std::ios::app) << second.rdbuf();
  options_.from = {(folder_ / "a.txt").string() + "@8x1:all_reduce"};
  EXPECT_TRUE(has(outcome(), "a.txt:5: 2 runs in one file"));
}

TEST_F(CalibrateVerb, WhatIsNoLogIsNamed) {
  const auto refused = [this](const std::string& path, const char* text) {
    options_.from = {path};
    const std::string found = outcome();
    EXPECT_TRUE(has(found, text)) << path << " gives " << found;
  };
  std::ofstream(folder_ / "empty.txt").flush();
  std::ofstream(folder_ / "noise.txt") << "\xff\xfe\x01\n\x80";
  refused((folder_ / "empty.txt").string(), "empty.txt: line 1: the file is empty");
  refused((folder_ / "noise.txt").string(), "noise.txt: no row of nccl-tests");
  refused(folder_.string(), "a folder; expected a log");
  refused((folder_ / "none.txt").string(), "none.txt: cannot be read");
  refused("/dev/zero", "/dev/zero: more than 64 MiB");
}

TEST_F(CalibrateVerb, MarksAndEndsOfLineOfWindowsChangeNothing) {
  options_.from = {log("a.txt", 2100, 4000)};
  const std::string plain = outcome();
  std::ifstream stream(folder_ / "a.txt");
  std::string text = "\xef\xbb\xbf";
  for (std::string line; std::getline(stream, line);) text += line + "\r\n";
  stream.close();
  std::ofstream(folder_ / "a.txt", std::ios::binary) << text;
  EXPECT_EQ(outcome(), plain);
}

TEST_F(CalibrateVerb, WhatIsStatedBesideALogIsRead) {
  const std::string path = log("own.txt", 2100, 4000);
  const std::string file = path.substr(0, path.find('@'));
  for (const char* bad : {"@", "@x2", "@8x", "@8y2", "@-8", "@8x2z"}) {
    options_.from = {file + bad};
    EXPECT_TRUE(has(outcome(), "expected FILE")) << bad;
  }
  options_.from = {file + "@8x1:all_gather"};
  EXPECT_FALSE(has(outcome(), "wrote")) << "1.75 is no factor of an all-gather";
}

}  // namespace
}  // namespace shardlab
