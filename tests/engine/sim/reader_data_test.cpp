#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "engine/core/error.h"
#include "engine/sim/calibrate.h"
#include "engine/sim/gpu_matrix.h"
#include "engine/sim/machine_prices.h"
#include "engine/sim/machines.h"
#include "engine/sim/nccl_log.h"
#include "engine/sim/nccl_topology.h"

namespace shardlab::sim {
namespace {

namespace fs = std::filesystem;

const fs::path data = fs::path(SHARDLAB_SOURCE_DIR).parent_path() / "shared" / "data";

std::string text_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The rows of a folder's INDEX.tsv by file, each as column -> text.
std::map<std::string, std::map<std::string, std::string>> index_of(const fs::path& folder) {
  std::ifstream stream(folder / "INDEX.tsv");
  const auto fields_of = [](const std::string& line) {
    std::vector<std::string> fields;
    std::stringstream cells(line);
    for (std::string cell; std::getline(cells, cell, '\t');) fields.push_back(cell);
    return fields;
  };
  std::string line;
  std::getline(stream, line);
  const std::vector<std::string> titles = fields_of(line);
  std::map<std::string, std::map<std::string, std::string>> rows;
  while (std::getline(stream, line)) {
    const std::vector<std::string> fields = fields_of(line);
    for (std::size_t i = 0; i < std::min(fields.size(), titles.size()); ++i)
      rows[fields[0]][titles[i]] = fields[i];
  }
  return rows;
}

class ReaderData : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::is_directory(data)) GTEST_SKIP() << "no " << data << " to read";
  }
};

TEST_F(ReaderData, EveryLogHasTheRowsOfItsIndex) {
  const auto index = index_of(data / "nccl-logs");
  ASSERT_FALSE(index.empty());
  for (const auto& [file, entry] : index) {
    SCOPED_TRACE(file);
    const NcclLog log = read_nccl_log(text_of(data / "nccl-logs" / file), file);
    ASSERT_EQ(log.runs.size(), 1U);
    const NcclRun& run = log.runs[0];
    EXPECT_EQ(run.rows.size(), std::stoul(entry.at("rows")));
    EXPECT_EQ(run.rows.front().bytes, std::stoll(entry.at("min_bytes")));
    EXPECT_EQ(run.rows.back().bytes, std::stoll(entry.at("max_bytes")));
    EXPECT_EQ(run.points().size(), run.rows.size());
    double most = 0;
    for (const NcclRow& row : run.rows)
      for (const auto* half : {&row.out_of_place, &row.in_place}) {
        ASSERT_TRUE(half->has_value());
        most = std::max(most, (*half)->busbw.value);
      }
    EXPECT_NEAR(most * 1e-9, std::stod(entry.at("max_busbw_gbs")), 0.006);
  }
}

TEST_F(ReaderData, LogsAreSuspectWhereTheIndexCallsThemFaulty) {
  for (const auto& [file, entry] : index_of(data / "nccl-logs")) {
    SCOPED_TRACE(file);
    const NcclRun run = read_nccl_log(text_of(data / "nccl-logs" / file), file).runs.at(0);
    const std::string& use = entry.at("use");
    if (use != "show") {
      EXPECT_EQ(run.suspect(), use == "fault");
    }
  }
}

TEST_F(ReaderData, LogsShowTheCollectiveAndRanksOfTheIndex) {
  // By its ratios the log that is filed as 144 ranks came from 128.
  const std::set<std::string> mislabelled{"allreduce_144xGB200_nvl72_2racks.txt"};
  for (const auto& [file, entry] : index_of(data / "nccl-logs")) {
    SCOPED_TRACE(file);
    const NcclRun run = read_nccl_log(text_of(data / "nccl-logs" / file), file).runs.at(0);
    const int ranks = std::stoi(entry.at("ranks"));
    EXPECT_EQ(run.may_have_ranks(ranks), mislabelled.count(file) == 0);
    if (run.ranks > 0 && mislabelled.count(file) == 0) {
      EXPECT_EQ(run.ranks, ranks);
    }
    std::string collective = run.collective;
    collective.erase(std::remove(collective.begin(), collective.end(), '_'), collective.end());
    std::string filed = entry.at("collective");
    filed.erase(std::remove(filed.begin(), filed.end(), '_'), filed.end());
    // An old log does not say whether it is an all-gather or an all-to-all.
    if (!collective.empty()) {
      EXPECT_EQ(collective, filed);
    }
  }
}

TEST_F(ReaderData, TheMislabelledLogIsRefusedWithTheRanksThatItShows) {
  const std::string file = "allreduce_144xGB200_nvl72_2racks.txt";
  const NcclRun run = read_nccl_log(text_of(data / "nccl-logs" / file), file).runs.at(0);
  EXPECT_EQ(run.ranks, 128);
  const Wires wires = wires_of(find_machine("gb200-nvl72"));
  try {
    (void)group_of(run, file, wires, 144, 36);
    FAIL() << "144 ranks are accepted";
  } catch (const Error& error) {
    EXPECT_TRUE(has(error.what(), "144 ranks are stated, but busbw by algbw is that of 128 ranks"));
  }
}

TEST_F(ReaderData, NoisyLogsHaveTheirNoiseNamed) {
  const auto says = [](const std::string& file, int line, const std::string& part) {
    const NcclRun run = read_nccl_log(text_of(data / "nccl-logs" / file), file).runs.at(0);
    return std::any_of(run.oddities.begin(), run.oddities.end(), [&](const Oddity& oddity) {
      return oddity.line == line && has(oddity.text, part);
    });
  };
  EXPECT_TRUE(says("allreduce_4node_32xH100_ib8x400_issue309b.txt", 6, "1 MiB took"));
  EXPECT_TRUE(says("allreduce_4node_32xH100_ib8x400_issue309b.txt", 14, "256 MiB"));
  EXPECT_TRUE(says("allreduce_2node_16xH100_ib8x400_issue309.txt", 6, "first use"));
  EXPECT_TRUE(says("allreduce_1node_8xH100_p5_nvls.txt", 8, "32 B took"));
}

TEST_F(ReaderData, EveryMatrixHasItsDevices) {
  const std::map<std::string, std::pair<int, int>> expected{
      {"2gpu_nv2_bridge.txt", {2, 0}},
      {"a100_8gpu_4nic_onesocket.txt", {8, 4}},
      {"a100_8gpu_nonic.txt", {8, 0}},
      {"dgxh100_8gpu_12nic.txt", {8, 12}},
      {"h100_8gpu_nonic.txt", {8, 0}},
      {"h200_epyc9534_8gpu_8nic.txt", {8, 8}},
      {"hopper_8gpu_8nic_pix_rails.txt", {8, 8}},
      {"rtx5090_2gpu_phb.txt", {2, 0}},
  };
  for (const auto& [file, entry] : index_of(data / "topo")) {
    SCOPED_TRACE(file);
    const GpuMatrix matrix = GpuMatrix::read(text_of(data / "topo" / file), file);
    ASSERT_TRUE(expected.count(file)) << "a matrix that this test does not know";
    EXPECT_EQ(matrix.gpus(), expected.at(file).first);
    EXPECT_EQ(matrix.nics(), expected.at(file).second);
    // Their legends were left out; nothing else is odd.
    for (const Oddity& oddity : matrix.oddities())
      EXPECT_TRUE(has(oddity.text, "legend")) << oddity.text;
  }
}

TEST_F(ReaderData, MatricesShowWhichNicsAreNear) {
  const auto read = [](const char* file) {
    return GpuMatrix::read(text_of(data / "topo" / file), file);
  };
  // NIC4 is the one of GPU0 on a host whose NICs are not in the order of its GPUs.
  EXPECT_EQ(read("h200_epyc9534_8gpu_8nic.txt").nearest_nics(0), std::vector<std::size_t>{12});
  EXPECT_EQ(read("hopper_8gpu_8nic_pix_rails.txt").nearest_nics(5), std::vector<std::size_t>{13});
  EXPECT_EQ(read("a100_8gpu_4nic_onesocket.txt").nearest_nics(7).size(), 4U);
}

TEST_F(ReaderData, EveryTopologyHasItsDevicesOrIsRefused) {
  struct Devices {
    std::size_t cpus, pcis, gpus, links, nets;
    int gpu_devices;
  };
  const std::map<std::string, Devices> expected{
      {"aws-g5.48xl.xml", {2, 9, 0, 0, 0, 0}},
      {"aws-p4d-24xl.xml", {2, 16, 0, 0, 0, 8}},
      {"aws-p4de-24xl.xml", {2, 16, 0, 0, 0, 8}},
      {"aws-p5.48xl-nics.xml", {2, 40, 0, 0, 0, 0}},
      {"azure-ncv4-4xA100pcie-nvl.xml", {4, 4, 4, 4, 1, 4}},
      {"azure-ndv4-a100.xml", {4, 20, 0, 0, 0, 8}},
      {"azure-ndv5-h100.xml", {2, 24, 0, 0, 0, 8}},
      {"h200-baremetal-numa0-partial.xml", {1, 9, 3, 12, 3, 3}},
      {"h200-vm-flat-partial.xml", {1, 2, 1, 1, 1, 1}},
  };
  for (const auto& [file, entry] : index_of(data / "nccl-topo")) {
    SCOPED_TRACE(file);
    const std::string text = text_of(data / "nccl-topo" / file);
    if (file == "azure-ncv4-graph.xml") {
      EXPECT_THROW((void)read_nccl_topology(text, file), Error);
      continue;
    }
    ASSERT_TRUE(expected.count(file)) << "a topology that this test does not know";
    const NcclTopology found = read_nccl_topology(text, file);
    const Devices& devices = expected.at(file);
    EXPECT_EQ(found.cpus.size(), devices.cpus);
    EXPECT_EQ(found.pcis.size(), devices.pcis);
    EXPECT_EQ(found.gpus.size(), devices.gpus);
    EXPECT_EQ(found.links.size(), devices.links);
    EXPECT_EQ(found.nets.size(), devices.nets);
    EXPECT_EQ(found.gpu_devices, devices.gpu_devices);
    const bool virtual_machine =
        std::any_of(found.oddities.begin(), found.oddities.end(), [](const Oddity& oddity) {
          return has(oddity.text, "virtual machine") || has(oddity.text, "another file");
        });
    EXPECT_EQ(virtual_machine, file != "h200-baremetal-numa0-partial.xml");
  }
}

}  // namespace
}  // namespace shardlab::sim
