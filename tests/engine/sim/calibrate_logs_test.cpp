#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "engine/core/check.h"
#include "engine/sim/calibrate.h"
#include "engine/sim/collective_trust.h"
#include "engine/sim/machine_prices.h"
#include "engine/sim/machines.h"

namespace shardlab::sim {
namespace {

namespace fs = std::filesystem;

constexpr std::array bands{Band::small, Band::middle, Band::large};

/// Logs of the index as far as they are read here.
struct Entry {
  std::string file;
  std::string use;
  Wires wires;
  Group group;
  std::string fabric;
  NcclRun run;
};

bool says(const std::string& text, const char* word) {
  return text.find(word) != std::string::npos;
}

Wires wires_named(const char* machine) { return wires_of(find_machine(machine)); }

/// What the index says of a log in words, in wires.
void place(Entry& entry, int ranks, int hosts, const std::string& fabric) {
  entry.group.ranks = entry.run.may_have_ranks(ranks) ? ranks : entry.run.ranks;
  if (says(entry.file, "GB200") || says(entry.file, "GB300")) {
    entry.wires = wires_named(says(entry.file, "GB300") ? "gb300-nvl72" : "gb200-nvl72");
    const int rack = says(entry.file, "nvl72") ? 72 : 64;
    entry.group.domains = (entry.group.ranks + rack - 1) / rack;
    entry.fabric = entry.group.domains == 1 ? "nvlink5"
                   : rack == 72             ? "nvlink5+ib"
                                            : "nvlink5+roce";
    return;
  }
  entry.group.domains = hosts;
  const bool old = says(entry.file, "A100");
  entry.wires = wires_named(old ? "dgx-a100" : "dgx-h100");
  entry.fabric = old ? "nvlink3" : "nvlink4";
  if (hosts == 1) return;
  if (says(fabric, "EFA")) {
    entry.fabric += "+efa";
    entry.wires.nic_latency_reported = 75e-6;
    entry.wires.nic_latency = old ? 75e-6 : 20e-6;
    if (!old) return;
    entry.wires.nics_per_host = 4;
    entry.wires.nic_bytes_per_second = 12.5e9;
    entry.wires.pcie_bytes_per_second = 24e9;
  } else if (says(fabric, "TCPXO")) {
    entry.fabric += "+tcpxo";
    entry.wires.nic_bytes_per_second = 25e9;
  } else {
    entry.fabric += "+ib";
  }
}

std::vector<Entry> entries(const fs::path& folder) {
  std::ifstream index(folder / "INDEX.tsv");
  std::vector<Entry> all;
  std::string line;
  std::getline(index, line);
  while (std::getline(index, line)) {
    std::vector<std::string> fields;
    std::stringstream cells(line);
    for (std::string cell; std::getline(cells, cell, '\t');) fields.push_back(cell);
    std::ifstream stream(folder / fields[0], std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    Entry& entry = all.emplace_back();
    entry.file = fields[0];
    entry.use = fields.back();
    entry.run = read_nccl_log(text, entry.file).runs.at(0);
    if (fields[1] == "alltoall") entry.run.collective = "all_to_all";
    if (fields[1] == "sendrecv") entry.run.collective = "send_recv";
    if (fields[1] == "all_reduce") entry.run.collective = "all_reduce";
    place(entry, std::stoi(fields[2]), std::stoi(fields[3]), fields[5]);
  }
  return all;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double error_of(const ComparedRow& row) { return std::abs(row.corrected / row.measured - 1); }

class CalibrateLogs : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path folder =
        fs::path(SHARDLAB_SOURCE_DIR).parent_path() / "shared" / "data" / "nccl-logs";
    if (!fs::is_directory(folder)) GTEST_SKIP() << "no " << folder << " to read";
    all_ = entries(folder);
    for (const Entry& each : all_)
      if (each.use == "judge")
        judged_.push_back(compared(each.run, each.file, each.wires, each.group, each.fabric));
    correct_from_others(judged_);
  }

  [[nodiscard]] std::vector<double> errors(Band band) const {
    std::vector<double> found;
    for (const ComparedLog& log : judged_)
      for (const ComparedRow& row : log.rows)
        if (band_of(row.bytes) == band) found.push_back(error_of(row));
    return found;
  }

  /// Residuals of all fabrics but the one that no other log is like.
  [[nodiscard]] std::vector<Residual> residuals(const ComparedLog* without) const {
    std::vector<Residual> found;
    for (const ComparedLog& log : judged_) {
      if (&log == without || says(log.fabric, "tcpxo")) continue;
      std::map<Band, double> rows;
      for (const ComparedRow& row : log.rows) rows[band_of(row.bytes)] += 1;
      for (const ComparedRow& row : log.rows) {
        const Band band = band_of(row.bytes);
        found.push_back({band, row.measured / row.predicted - 1, 1 / rows[band]});
      }
    }
    return found;
  }

  std::vector<Entry> all_;
  std::vector<ComparedLog> judged_;
};

TEST_F(CalibrateLogs, LeftOutLogsArePredictedAsWellAsPromised) {
  for (const ComparedLog& log : judged_) {
    std::string line = fmt::format("{:42} {:13}", log.name.substr(0, 42), log.fabric);
    for (const Band band : bands) {
      std::vector<double> mine;
      int others = 0;
      for (const ComparedRow& row : log.rows)
        if (band_of(row.bytes) == band) {
          mine.push_back(error_of(row));
          others = std::max(others, row.others);
        }
      line += mine.empty() ? fmt::format(" {:>14}", "-")
                           : fmt::format(" {:6.1f} % by {:2}", 100 * median(mine), others);
    }
    fmt::print("{}\n", line);
  }
  const std::map<Band, double> allowed{
      {Band::small, 0.30}, {Band::middle, 0.20}, {Band::large, 0.10}};
  for (const Band band : bands) {
    const std::vector<double> found = errors(band);
    fmt::print("{:10} pooled median {:.1f} % over {} rows\n", name_of(band), 100 * median(found),
               found.size());
    ASSERT_GT(found.size(), 30U);
    EXPECT_LE(median(found), allowed.at(band)) << name_of(band);
  }
}

TEST_F(CalibrateLogs, FaultyLogsAreRefused) {
  // Judged as it is, but its ports ran at a quarter of their rate: no log to fit a machine to.
  const std::string slow = "alltoall_128xGB300_2racks_roce8x400.txt";
  int refused = 0;
  for (const Entry& each : all_) {
    const ComparedLog log = compared(each.run, each.file, each.wires, each.group, each.fabric);
    if (each.use == "fault" || each.file == slow) {
      ++refused;
      EXPECT_THROW(refuse_faults(each.run, log), Error) << each.file;
    } else if (each.use == "judge") {
      EXPECT_NO_THROW(refuse_faults(each.run, log)) << each.file;
    }
  }
  EXPECT_EQ(refused, 4);
}

TEST_F(CalibrateLogs, StatedIntervalsHoldFourOfFiveLeftOutRows) {
  int inside = 0;
  int rows = 0;
  std::vector<double> widths;
  for (const ComparedLog& log : judged_) {
    const std::vector<Residual> others = residuals(&log);
    for (const ComparedRow& row : log.rows) {
      const double width = half_width_from(others, band_of(row.bytes));
      widths.push_back(width);
      ++rows;
      if (std::abs(row.measured / row.predicted - 1) <= width) ++inside;
    }
  }
  fmt::print("{} of {} rows inside, median half width {:.1f} %\n", inside, rows,
             100 * median(widths));
  EXPECT_GE(inside, 0.70 * rows);
  EXPECT_LE(inside, 0.90 * rows);
  EXPECT_LE(median(widths), 0.25);
}

TEST_F(CalibrateLogs, BuiltInHalfWidthsAreThoseOfTheLogs) {
  const std::vector<Residual> everything = residuals(nullptr);
  for (const Band band : bands) {
    const double bytes = band == Band::small ? 1024 : band == Band::middle ? 1 << 22 : 1 << 30;
    EXPECT_NEAR(collective_trust("all_reduce", bytes).half_width, half_width_from(everything, band),
                0.006);
  }
  std::map<std::pair<std::string, Band>, int> logs;
  for (const ComparedLog& log : judged_) {
    if (says(log.fabric, "tcpxo")) continue;
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

}  // namespace
}  // namespace shardlab::sim
