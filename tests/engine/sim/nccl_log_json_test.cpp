#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/core/error.h"
#include "engine/sim/nccl_log.h"
#include "tests/engine/sim/nccl_table.h"

namespace shardlab::sim {
namespace {

using json = nlohmann::ordered_json;

json half_of(const TableCase& table, long long bytes, double microseconds) {
  const double algbw = static_cast<double>(bytes) / microseconds * 1e-3;
  return {
      {"time", microseconds}, {"alg_bw", algbw}, {"bus_bw", algbw * table.factor}, {"nwrong", 0.0}};
}

/// As nccl-tests writes it with -J, for two processes of four GPUs.
json file_of(const TableCase& table) {
  json file = {{"version", 2},
               {"args", {"./build/all_reduce_perf", "-J", "out.json"}},
               {"env", {"HOME=/nowhere"}},
               {"nccl_version", 22903}};
  file["config"] = {{"nthreads", 1},
                    {"ngpus", 4},
                    {"minimum_bytes", table.rows.front().bytes},
                    {"maximum_bytes", table.rows.back().bytes},
                    {"step_factor", 4}};
  for (const int rank : {0, 4})
    file["config"]["devices"].push_back({{"rank", rank},
                                         {"group", 0},
                                         {"pid", 7},
                                         {"hostname", "box" + std::to_string(rank)},
                                         {"device", 0},
                                         {"device_info", "NVIDIA Test GPU"}});
  for (const TableRow& row : table.rows)
    file["results"].push_back({{"size", row.bytes},
                               {"count", row.bytes / 4},
                               {"type", "float"},
                               {"redop", "sum"},
                               {"root", "    -1"},
                               {"out_of_place", half_of(table, row.bytes, row.microseconds)},
                               {"in_place", half_of(table, row.bytes, row.in_place)},
                               {"actual_iterations", 20}});
  file["out_of_bounds"] = {{"count", 0}, {"okay", "true"}};
  file["average_bus_bandwidth"] = {{"bandwidth", 0.0}, {"okay", "unchecked"}};
  file["errors"] = {""};
  return file;
}

TableCase smooth() {
  TableCase table;
  table.rows = smooth_rows();
  return table;
}

std::string error_of(const std::string& text) {
  try {
    (void)read_nccl_log(text, "out.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::invalid);
    return error.what();
  }
  return "no error";
}

TEST(NcclLogJson, HoldsTheSameAsATable) {
  json file = file_of(smooth());
  file.erase("average_bus_bandwidth");
  const NcclLog log = read_nccl_log(file.dump(), "out.json");
  ASSERT_EQ(log.runs.size(), 1U);
  const NcclRun& run = log.runs[0];
  EXPECT_EQ(run.collective, "all_reduce");
  EXPECT_EQ(run.version, "2.29.3");
  EXPECT_EQ(run.listed_ranks, 8);
  EXPECT_EQ(run.ranks, 8);
  EXPECT_EQ(run.hosts, 2);
  EXPECT_EQ(run.gpu, "NVIDIA Test GPU");
  EXPECT_EQ(run.dtype, "float");
  EXPECT_EQ(run.announced_most, 1 << 30);
  EXPECT_FALSE(run.suspect());
  const NcclRun table = read_nccl_log(table_text(smooth()), "table").runs[0];
  ASSERT_EQ(run.rows.size(), table.rows.size());
  for (std::size_t i = 0; i < run.rows.size(); ++i) {
    EXPECT_EQ(run.rows[i].bytes, table.rows[i].bytes);
    EXPECT_EQ(run.rows[i].count, table.rows[i].count);
    EXPECT_NEAR(run.points()[i].second, table.points()[i].second, 0.005e-6);
  }
}

TEST(NcclLogJson, NamesLinesOfAFileThatHasSome) {
  json file = file_of(smooth());
  file["results"][1]["in_place"] = nullptr;
  file["results"][2]["in_place"] = 5;
  file["results"][3]["out_of_place"]["time"] = "nan";
  const std::string text = file.dump(1);
  const NcclRun run = read_nccl_log(text, "out.json").runs[0];
  EXPECT_FALSE(run.rows[1].in_place.has_value());
  EXPECT_TRUE(run.rows[3].in_place.has_value());
  EXPECT_GT(run.rows[0].line, 1);
  const auto says = [&](int line, const char* part) {
    return std::any_of(run.oddities.begin(), run.oddities.end(), [&](const Oddity& oddity) {
      return oddity.line == line && has(oddity.text, part);
    });
  };
  EXPECT_TRUE(says(run.rows[2].line, "in_place is no object"));
  EXPECT_TRUE(says(run.rows[3].line, "out_of_place has no time"));
}

TEST(NcclLogJson, KeepsTheRowsBeforeWhereTheFileIsCut) {
  const std::string text = file_of(smooth()).dump();
  const std::size_t third = text.find("\"size\":16384");
  const NcclRun run = read_nccl_log(text.substr(0, third + 40), "out.json").runs[0];
  EXPECT_EQ(run.rows.size(), 2U);
  EXPECT_TRUE(std::any_of(run.oddities.begin(), run.oddities.end(), [](const Oddity& oddity) {
    return has(oddity.text, "not readable from here on");
  }));
}

TEST(NcclLogJson, IsRefusedWithItsLineWhereNoRowComesFirst) {
  EXPECT_NE(error_of("{\n\n\"results\": [}").find("out.json:3: not readable as JSON"),
            std::string::npos);
  EXPECT_NE(error_of("{\"results\": []}").find("no row"), std::string::npos);
  EXPECT_NE(error_of("{}").find("no row"), std::string::npos);
  EXPECT_NE(error_of("{\"results\": [{\"size\": 1e999}]}").find("not readable"), std::string::npos);
}

TEST(NcclLogJson, FallsUnderSuspicionAsATableDoes) {
  TableCase table = smooth();
  json file = file_of(table);
  file["config"]["ngpus"] = 8;
  file["config"]["devices"][1]["rank"] = 8;
  EXPECT_EQ(read_nccl_log(file.dump(), "j").runs[0].suspicions.at(0).symptom, Symptom::wrong_ranks);

  file = file_of(table);
  file["out_of_bounds"] = {{"count", 3}, {"okay", "false"}};
  EXPECT_EQ(read_nccl_log(file.dump(), "j").runs[0].suspicions.at(0).symptom,
            Symptom::wrong_values);

  file = file_of(table);
  file["errors"] = {"unhandled system error"};
  EXPECT_EQ(read_nccl_log(file.dump(), "j").runs[0].suspicions.at(0).symptom, Symptom::broken_off);

  file = file_of(table);
  for (json& row : file["results"]) {
    row["out_of_place"]["cpu_time"] = row["out_of_place"]["time"];
    row["out_of_place"].erase("time");
  }
  EXPECT_EQ(read_nccl_log(file.dump(), "j").runs[0].suspicions.at(0).symptom, Symptom::cpu_times);
}

TEST(NcclLogJson, OfDeepOrEndlessValuesIsReadInBoundedSpace) {
  const std::string start = "{\"results\": ";
  EXPECT_NE(error_of(start + std::string(1'000'000, '[')).find("not readable"), std::string::npos);
  std::string many = start + "[";
  for (int i = 0; i < 200'000; ++i) many += "[{}],";
  EXPECT_NE(error_of(many + "0]}").find("no row"), std::string::npos);
}

}  // namespace
}  // namespace shardlab::sim
