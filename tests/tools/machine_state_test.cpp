#include "tools/machine_state.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/command.h"

namespace shardlab::test {
namespace {

using Doubts = std::vector<std::string>;

void put(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

/// Ten seconds of two ranks on four cores that nothing disturbs.
struct Quiet {
  MachineState before{.seconds = 100,
                      .own_seconds = 5,
                      .cores = 4,
                      .load = 0.1,
                      .busy_seconds = 1000,
                      .steal_seconds = 10,
                      .quota_seconds = 0,
                      .lowest_mhz = 2000,
                      .highest_mhz = 2000,
                      .throttled = 3};
  MachineState after = before;
  Quiet() {
    after.seconds = 110;
    after.own_seconds = 25;
    after.busy_seconds = 1020.5;  // half a second of others in ten
  }
};

TEST(MachineState, ReadsWhatLinuxTells) {
  const Folder root;
  // 100 ticks a second: busy are 100 + 20 + 30 + 5 + 5 = 160 ticks, without idle and waiting.
  put(root.path() / "proc/stat",
      "cpu  100 20 30 900 40 5 5 50 0 0\ncpu0 50 10 15 450 20 3 2 25 0 0\n"
      "cpu1 50 10 15 450 20 2 3 25 0 0\nintr 12\n");
  put(root.path() / "proc/loadavg", "1.25 0.5 0.2 1/80 3000\n");
  put(root.path() / "sys/fs/cgroup/cpu.stat", "usage_usec 7\nthrottled_usec 1500000\n");
  for (const char* core : {"cpu0", "cpu1"}) {
    const std::filesystem::path folder = root.path() / "sys/devices/system/cpu" / core;
    put(folder / "cpufreq/scaling_cur_freq", core == std::string("cpu0") ? "1800000" : "2400000");
    put(folder / "thermal_throttle/core_throttle_count", "4");
  }
  const MachineState state = machine_state(root.path());
  EXPECT_EQ(state.cores, 2);
  EXPECT_EQ(state.load, 1.25);
  EXPECT_DOUBLE_EQ(*state.busy_seconds, 1.6);
  EXPECT_DOUBLE_EQ(*state.steal_seconds, 0.5);
  EXPECT_DOUBLE_EQ(*state.quota_seconds, 1.5);
  EXPECT_EQ(state.lowest_mhz, 1800);
  EXPECT_EQ(state.highest_mhz, 2400);
  EXPECT_EQ(state.throttled, 8);
}

TEST(MachineState, ReadsClockRatesFromTheProcessorListWhereThatIsAllThereIs) {
  const Folder root;
  put(root.path() / "proc/cpuinfo", "cpu MHz\t\t: 2100.5\nmodel name : x\ncpu MHz\t\t: 1900\n");
  const MachineState state = machine_state(root.path());
  EXPECT_EQ(state.lowest_mhz, 1900);
  EXPECT_EQ(state.highest_mhz, 2100.5);
  EXPECT_FALSE(state.load || state.busy_seconds || state.throttled || state.quota_seconds);
  EXPECT_EQ(doubts_of(state, state, 2), Doubts{});
}

TEST(Doubts, AreNoneOfAQuietMachine) {
  const Quiet quiet;
  EXPECT_EQ(doubts_of(quiet.before, quiet.after, 2), Doubts{});
  const nlohmann::json json = nlohmann::json::parse(state_json(quiet.before, quiet.after, 2));
  EXPECT_DOUBLE_EQ(json.at("cores_busy_with_others").get<double>(), 0.05);
  EXPECT_EQ(json.at("before").at("load"), 0.1);
  EXPECT_TRUE(json.at("doubts").empty());
}

TEST(Doubts, NameOtherProgramsOnlyWhereRanksNeedTheirCores) {
  Quiet quiet;
  quiet.after.busy_seconds = 1035;  // others 1.5 of 4 cores
  EXPECT_EQ(doubts_of(quiet.before, quiet.after, 2), Doubts{});
  EXPECT_EQ(doubts_of(quiet.before, quiet.after, 4),
            Doubts{"other programs kept 1.5 of 4 cores busy beside 4 ranks"});
}

TEST(Doubts, NameStolenTimeHeatQuotasAndSlowClocks) {
  Quiet quiet;
  quiet.after.steal_seconds = 12;  // of 40 seconds of 4 cores
  quiet.after.throttled = 5;
  quiet.after.quota_seconds = 0.25;
  quiet.after.lowest_mhz = 1500;
  EXPECT_EQ(
      doubts_of(quiet.before, quiet.after, 2),
      (Doubts{"the hypervisor took 5.0 % of the cores' time", "heat slowed cores down 2 times",
              "a quota of the container held ranks up for 0.25 s",
              "the slowest core ran at 2000 MHz before and at 1500 after"}));
}

}  // namespace
}  // namespace shardlab::test
