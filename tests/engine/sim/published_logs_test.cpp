#include "engine/sim/published_logs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "engine/core/error.h"
#include "engine/sim/collective_trust.h"
#include "engine/sim/median.h"

namespace shardlab::sim {
namespace {

constexpr std::array bands{Band::small, Band::middle, Band::large};

class PublishedLogs : public testing::Test {
 protected:
  void SetUp() override {
    std::ifstream stream(std::filesystem::path(SHARDLAB_SOURCE_DIR) / "results" / "published" /
                             "logs" / "collectives.csv",
                         std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    logs_ = read_published_logs(text, "collectives.csv");
    for (const PublishedLog& each : logs_)
      if (each.use == PublishedLog::Use::judge) judged_.push_back(each.log);
  }

  std::vector<PublishedLog> logs_;
  std::vector<ComparedLog> judged_;
};

// What the issue of predictions asks for: at most 30, 20 and 10 %.
TEST_F(PublishedLogs, LeftOutLogsArePredictedAsWellAsPromised) {
  const LeftOut left = leave_out(judged_);
  const std::map<Band, double> allowed{
      {Band::small, 0.30}, {Band::middle, 0.20}, {Band::large, 0.10}};
  for (const Band band : bands) {
    ASSERT_GT(left.errors(band).size(), 30U);
    EXPECT_LE(median(left.errors(band)), allowed.at(band)) << name_of(band);
  }
}

TEST_F(PublishedLogs, StatedIntervalsHoldFourOfFiveLeftOutRows) {
  const LeftOut left = leave_out(judged_);
  EXPECT_GE(left.inside, 0.70 * left.rows);
  EXPECT_LE(left.inside, 0.90 * left.rows);
  EXPECT_LE(left.median_half_width, 0.25);
}

TEST_F(PublishedLogs, EveryFaultSaysWhyAndEveryLogItsSource) {
  int faults = 0;
  for (const PublishedLog& each : logs_) {
    EXPECT_FALSE(each.source.empty()) << each.log.name;
    if (each.use != PublishedLog::Use::fault) continue;
    ++faults;
    EXPECT_FALSE(each.fault.empty()) << each.log.name;
  }
  EXPECT_EQ(faults, 3);
}

TEST_F(PublishedLogs, BuiltInHalfWidthsAreThoseOfTheLogs) {
  const std::vector<Residual> everything = residuals_of(judged_);
  for (const Band band : bands) {
    const double bytes = band == Band::small ? 1024 : band == Band::middle ? 1 << 22 : 1 << 30;
    EXPECT_NEAR(collective_trust("all_reduce", bytes).half_width, half_width_from(everything, band),
                0.006);
  }
  std::map<std::pair<std::string, Band>, int> logs;
  for (const ComparedLog& log : judged_) {
    if (log.fabric.ends_with("tcpxo")) continue;
    for (const Band band : bands)
      logs[{log.collective, band}] +=
          std::any_of(log.rows.begin(), log.rows.end(),
                      [band](const ComparedRow& row) { return band_of(row.bytes) == band; });
  }
  for (const auto& [subject, count] : logs) {
    const Band band = subject.second;
    const double bytes = band == Band::small ? 1024 : band == Band::middle ? 1 << 22 : 1 << 30;
    EXPECT_EQ(collective_trust(subject.first, bytes).logs, count)
        << subject.first << ' ' << name_of(band);
  }
}

TEST_F(PublishedLogs, AFaultyFileNamesItsLine) {
  const std::string head = "log,use,collective,ranks,domains,fabric,wires,bytes,us\n";
  const auto fault_of = [&](const std::string& rows) -> std::string {
    try {
      (void)read_published_logs(head + rows, "logs.csv");
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(fault_of("a,judge,all_reduce,8,1,nvlink4,dgx-h100,1024,12\n"), "");
  EXPECT_EQ(fault_of("a,judge,all_reduce,8,1,nvlink4,dgx-h100,1024\n"),
            "logs.csv:2: expected 9 cells, found 8");
  EXPECT_EQ(fault_of("a,good,all_reduce,8,1,nvlink4,dgx-h100,1024,12\n"),
            "logs.csv:2: expected judge, show or fault, found 'good'");
  EXPECT_EQ(fault_of("a,judge,all_reduce,8,1,nvlink4,dgx-h100,1024,0\n"),
            "logs.csv:2: expected a positive number, found '0'");
  EXPECT_EQ(fault_of("a,judge,all_reduce,8,1,nvlink4,dgx-h100 nic.speed=1,1024,12\n"),
            "logs.csv:2: expected a number of dgx-h100 as path=value, found 'nic.speed=1'");
  EXPECT_EQ(fault_of("a,judge,all_reduce,8,1,nvlink4,dgx-h100,1024,12\n"
                     "a,judge,all_reduce,8,1,nvlink4,dgx-h100,512,9\n"),
            "logs.csv:3: sizes must rise, found 512");
  EXPECT_EQ(fault_of(""), "logs.csv: no rows");
}

}  // namespace
}  // namespace shardlab::sim
