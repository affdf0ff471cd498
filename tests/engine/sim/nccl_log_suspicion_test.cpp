#include <gtest/gtest.h>

#include <algorithm>

#include "engine/sim/nccl_log.h"
#include "tests/engine/sim/nccl_table.h"

namespace shardlab::sim {
namespace {

NcclRun run_of(const std::string& text) {
  NcclLog log = read_nccl_log(text, "test.log");
  EXPECT_EQ(log.runs.size(), 1U);
  return std::move(log.runs.front());
}

/// Whether this is the only thing that makes the run suspect.
bool only(const NcclRun& run, Symptom symptom) {
  return run.suspicions.size() == 1 && run.suspicions[0].symptom == symptom;
}

bool noted(const NcclRun& run, int line, const std::string& part) {
  return std::any_of(run.oddities.begin(), run.oddities.end(), [&](const Oddity& oddity) {
    return oddity.line == line && has(oddity.text, part);
  });
}

TableCase smooth() {
  TableCase table;
  table.rows = smooth_rows();
  return table;
}

TEST(NcclLogSuspicion, OfASmoothRunThereIsNone) {
  EXPECT_TRUE(run_of(table_text(smooth())).suspicions.empty());
}

TEST(NcclLogSuspicion, FallsOnAListOfRanksThatTheNumbersContradict) {
  const NcclRun run = run_of(device_list(16, 8) + table_text(smooth()));
  ASSERT_TRUE(only(run, Symptom::wrong_ranks));
  EXPECT_NE(run.suspicions[0].text.find("lists 16 ranks, but the numbers show 8"),
            std::string::npos);
  EXPECT_EQ(run.ranks, 8);
  EXPECT_TRUE(run.may_have_ranks(8));
  EXPECT_FALSE(run.may_have_ranks(16));
}

TEST(NcclLogSuspicion, DoesNotFallOnAListOfRanksWithGaps) {
  std::string list = device_list(8, 8);
  list.erase(list.find("#  Rank  3"), list.find("#  Rank  5") - list.find("#  Rank  3"));
  const NcclRun run = run_of(list + table_text(smooth()));
  EXPECT_FALSE(run.suspect());
  EXPECT_EQ(run.listed_ranks, 0);
}

TEST(NcclLogSuspicion, LeavesOpenHowManyRanksOfThousandsThereAre) {
  TableCase table = smooth();
  table.factor = 2 * 1023.0 / 1024;
  const NcclRun run = run_of(table_text(table));
  EXPECT_EQ(run.ranks, 0);
  EXPECT_LT(run.least_ranks, 1024);
  EXPECT_GT(run.most_ranks, 1024);
  EXPECT_GT(run.least_ranks, 900);
}

TEST(NcclLogSuspicion, FallsOnRowsOfTwoRunsInOneTable) {
  TableCase table = smooth();
  std::string text = table_titles();
  for (const TableRow& row : table.rows) {
    text += table_line(table, row);
    table.factor = row.bytes > 1'000'000 ? 1.5 : 1.75;  // 4 ranks from here on
  }
  EXPECT_TRUE(only(run_of(text + "# Out of bounds values : 0 OK\n"), Symptom::mixed_rows));
}

TEST(NcclLogSuspicion, NotesASingleRowWithAnotherRatio) {
  TableCase table = smooth();
  const std::string line = table_line(table, table.rows[8]);
  table.factor = 1.7;
  std::string text = table_text(smooth());
  text.replace(text.find(line), line.size(), table_line(table, table.rows[8]));
  const NcclRun run = run_of(text);
  EXPECT_FALSE(run.suspect());
  EXPECT_EQ(run.ranks, 8);
  EXPECT_TRUE(noted(run, 13, "do not fit 8 ranks"));
}

TEST(NcclLogSuspicion, FallsOnARunInWhichEveryProcessWasAlone) {
  TableCase table = smooth();
  table.factor = 0;
  EXPECT_TRUE(only(run_of(table_text(table)), Symptom::one_rank));
}

TEST(NcclLogSuspicion, FallsOnWrongValues) {
  TableCase table = smooth();
  std::string text = table_titles() + table_line(table, table.rows[0]);
  table.wrong = "3";
  text += table_line(table, table.rows[1]);
  const NcclRun run = run_of(text + "# Out of bounds values : 0 OK\n");
  ASSERT_TRUE(only(run, Symptom::wrong_values));
  EXPECT_EQ(run.suspicions[0].line, 6);

  std::string footer = table_text(smooth());
  footer.replace(footer.find("0 OK"), 4, "4 FAILED");
  EXPECT_TRUE(only(run_of(footer), Symptom::wrong_values));
}

TEST(NcclLogSuspicion, FallsOnARunThatBrokeOff) {
  TableCase table = smooth();
  std::string text = table_titles() + table_line(table, table.rows[0]);
  text += "box0: Test NCCL failure common.cu:1 'unhandled system error'\n";
  const NcclRun run = run_of(text);
  ASSERT_TRUE(only(run, Symptom::broken_off));
  EXPECT_EQ(run.suspicions[0].line, 6);
}

TEST(NcclLogSuspicion, FallsOnRatesThatAreNotSizeByTime) {
  TableCase table = smooth();
  std::string text = table_titles();
  for (const TableRow& row : table.rows) {
    // Times in units of 1.25 us.
    std::string line = table_line(table, row);
    const std::string time = line.substr(line.find("-1") + 3, 8);
    text += line.replace(line.find(time), 8, std::to_string(row.microseconds / 1.25).substr(0, 8));
  }
  const NcclRun run = run_of(text + "# Out of bounds values : 0 OK\n");
  ASSERT_TRUE(only(run, Symptom::inconsistent));
  EXPECT_TRUE(run.rows.back().out_of_place->doubtful);
  EXPECT_FALSE(run.rows.back().in_place->doubtful);
}

TEST(NcclLogSuspicion, DoubtsASingleRowWithAWrongTimeAndNotTheRun) {
  TableCase table = smooth();
  table.rows[6].in_place = 0;
  std::string text = table_text(table);
  const std::string line = table_line(table, table.rows[6]);
  std::string changed = line;
  const std::string time = line.substr(line.find("-1") + 3, 8);
  changed.replace(changed.find(time), 8, "   77.77");
  text.replace(text.find(line), line.size(), changed);
  const NcclRun run = run_of(text);
  EXPECT_FALSE(run.suspect());
  EXPECT_TRUE(run.rows[6].out_of_place->doubtful);
  EXPECT_EQ(run.points().size(), table.rows.size() - 1);
}

TEST(NcclLogSuspicion, FallsOnCpuTimes) {
  std::string text = table_text(smooth());
  for (std::size_t at = 0; (at = text.find(" time ", at)) != std::string::npos; at += 8)
    text.replace(at, 6, " cputime ");
  EXPECT_TRUE(only(run_of(text), Symptom::cpu_times));
}

TEST(NcclLogSuspicion, DoubtsAFirstRowThatPaysForFirstUse) {
  TableCase table = smooth();
  table.rows[0].microseconds = 68;
  const NcclRun run = run_of(table_text(table));
  EXPECT_FALSE(run.suspect());
  EXPECT_TRUE(run.rows[0].out_of_place->doubtful);
  EXPECT_TRUE(noted(run, 5, "first use"));
  // The other half stands in.
  EXPECT_NEAR(run.points()[0].second, table.rows[0].in_place * 1e-6, 0.01e-6);
}

TEST(NcclLogSuspicion, NotesASizeThatIsSlowerThanABiggerOne) {
  TableCase table = smooth();
  const double next = table.rows[4].microseconds;
  table.rows[3].microseconds = 1.2 * next;
  NcclRun run = run_of(table_text(table));
  EXPECT_TRUE(noted(run, 8, "64 KiB took"));
  EXPECT_FALSE(run.rows[3].out_of_place->doubtful);
  table.rows[3].microseconds = 1.6 * next;
  run = run_of(table_text(table));
  EXPECT_TRUE(run.rows[3].out_of_place->doubtful);
  EXPECT_FALSE(run.suspect());
}

TEST(NcclLogSuspicion, NotesADipThatRecovers) {
  TableCase table = smooth();
  table.rows[8].microseconds *= 1.6;
  table.rows[8].in_place *= 1.6;
  const NcclRun run = run_of(table_text(table));
  EXPECT_TRUE(noted(run, 13, "is a dip"));
  EXPECT_FALSE(run.suspect());
}

TEST(NcclLogSuspicion, FallsOnLargeSizesThatStaySlower) {
  TableCase table = smooth();
  for (std::size_t i = 9; i < table.rows.size(); ++i) {
    table.rows[i].microseconds *= 1.2;
    table.rows[i].in_place *= 1.2;
  }
  EXPECT_TRUE(only(run_of(table_text(table)), Symptom::collapse));
  // In one half only it is noise.
  for (TableRow& row : table.rows) row.in_place = 20 + static_cast<double>(row.bytes) / 200e3;
  EXPECT_FALSE(run_of(table_text(table)).suspect());
}

TEST(NcclLogSuspicion, FallsOnRatesBelowHalfOfOnePortAHost) {
  // busbw of 7/4 of algbw: 3.6 GB/s is above 6.25 GB/s, 3.5 is not.
  TableCase table;
  table.rows = smooth_rows(20, 3.7e9);
  EXPECT_FALSE(run_of(table_text(table)).suspect());
  table.rows = smooth_rows(20, 3.5e9);
  EXPECT_TRUE(only(run_of(table_text(table)), Symptom::slow));
  // Small sizes are always slow.
  table.rows.resize(8);
  EXPECT_FALSE(run_of(table_text(table)).suspect());
}

TEST(NcclLogSuspicion, GrantsAnAllToAllAnEighthOfThat) {
  TableCase table;
  table.redop = "none";
  table.factor = 63.0 / 64;
  table.parts = 64;
  table.in_place_wrong = "N/A";
  table.rows = smooth_rows(20, 0.9e9);
  EXPECT_FALSE(run_of(table_text(table)).suspect());
  table.rows = smooth_rows(20, 0.7e9);
  EXPECT_TRUE(only(run_of(table_text(table)), Symptom::slow));
}

TEST(NcclLogSuspicion, ComparesTheFooterWithItsRows) {
  TableCase table = smooth();
  double sum = 0;
  for (const TableRow& row : table.rows)
    sum += static_cast<double>(row.bytes) / row.microseconds * 1e-3 * 1.75;
  const auto with_average = [&](double gigabytes_per_second) {
    return run_of(table_text(table) +
                  "# Avg bus bandwidth : " + std::to_string(gigabytes_per_second) + "\n");
  };
  const double mean = sum / static_cast<double>(table.rows.size());
  EXPECT_FALSE(noted(with_average(mean), 15, "mean busbw"));
  EXPECT_TRUE(noted(with_average(1.02 * mean), 15, "mean busbw"));
}

}  // namespace
}  // namespace shardlab::sim
