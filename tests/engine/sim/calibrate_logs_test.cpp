#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "engine/core/check.h"
#include "engine/sim/calibrate.h"
#include "engine/sim/published_logs.h"

namespace shardlab::sim {
namespace {

namespace fs = std::filesystem;

/// Logs of the index as far as they are read here.
struct Entry {
  std::string file;
  std::string use;
  std::string source;
  std::string wires_text;
  Wires wires;
  Group group;
  std::string fabric;
  NcclRun run;
};

bool says(const std::string& text, const char* word) {
  return text.find(word) != std::string::npos;
}

/// What the index says of a log in words, in wires.
void place(Entry& entry, int ranks, int hosts, const std::string& fabric) {
  entry.group.ranks = entry.run.may_have_ranks(ranks) ? ranks : entry.run.ranks;
  if (says(entry.file, "GB200") || says(entry.file, "GB300")) {
    entry.wires_text = says(entry.file, "GB300") ? "gb300-nvl72" : "gb200-nvl72";
    const int rack = says(entry.file, "nvl72") ? 72 : 64;
    entry.group.domains = (entry.group.ranks + rack - 1) / rack;
    entry.fabric = entry.group.domains == 1 ? "nvlink5"
                   : rack == 72             ? "nvlink5+ib"
                                            : "nvlink5+roce";
    return;
  }
  entry.group.domains = hosts;
  const bool old = says(entry.file, "A100");
  entry.wires_text = old ? "dgx-a100" : "dgx-h100";
  entry.fabric = old ? "nvlink3" : "nvlink4";
  if (hosts == 1) return;
  if (says(fabric, "EFA")) {
    entry.fabric += "+efa";
    entry.wires_text += old ? " nic.latency=7.5e-05 fabric.latency=7.5e-05 nic.count=4 "
                              "nic.bandwidth=12.5e9 host.copy_bandwidth=24e9"
                            : " nic.latency=7.5e-05 fabric.latency=2e-05";
  } else if (says(fabric, "TCPXO")) {
    entry.fabric += "+tcpxo";
    entry.wires_text += " nic.bandwidth=25e9";
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
    entry.source = fields[7];
    place(entry, std::stoi(fields[2]), std::stoi(fields[3]), fields[5]);
    entry.wires = wires_named(entry.wires_text, entry.file);
  }
  return all;
}

class CalibrateLogs : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path folder =
        fs::path(SHARDLAB_SOURCE_DIR).parent_path() / "shared" / "data" / "nccl-logs";
    if (!fs::is_directory(folder)) GTEST_SKIP() << "no " << folder << " to read";
    all_ = entries(folder);
  }

  std::vector<Entry> all_;
};

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

/// What results/published/logs/collectives.csv must be: distilled from the logs.
std::string distilled(const std::vector<Entry>& all) {
  std::string text =
      "# Public logs of nccl-tests, distilled to sizes and times: out of place, the median of a "
      "size "
      "that was\n# measured several times. Written by the test that holds this file to the logs.\n";
  std::string rows = std::string(published_header()) + "\n";
  for (const Entry& each : all) {
    const ComparedLog log = compared(each.run, each.file.substr(0, each.file.find('.')), each.wires,
                                     each.group, each.fabric);
    text += fmt::format("# source {}: {}\n", log.name, each.source);
    try {
      refuse_faults(each.run, log);
    } catch (const Error& error) {
      const std::string reason = error.what();
      text += fmt::format("# fault {}: {}\n", log.name, reason.substr(reason.find("fitted: ") + 8));
    }
    rows += published_rows(log, each.use.c_str(), each.wires_text);
  }
  return text + rows;
}

TEST_F(CalibrateLogs, ThePublishedRowsAreThoseOfTheLogs) {
  const fs::path file =
      fs::path(SHARDLAB_SOURCE_DIR) / "results" / "published" / "logs" / "collectives.csv";
  std::ifstream stream(file, std::ios::binary);
  const std::string stored{std::istreambuf_iterator<char>(stream), {}};
  const std::string fresh = distilled(all_);
  const fs::path beside = fs::path(testing::TempDir()) / "collectives.csv";
  std::ofstream(beside, std::ios::binary) << fresh;
  EXPECT_EQ(stored, fresh) << "if the logs have changed: cp " << beside << ' ' << file;
}

}  // namespace
}  // namespace shardlab::sim
