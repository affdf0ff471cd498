#include "engine/sim/nccl_log.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/core/error.h"
#include "tests/engine/sim/nccl_table.h"

namespace shardlab::sim {
namespace {

NcclRun only_run(const std::string& text) {
  NcclLog log = read_nccl_log(text, "test.log");
  EXPECT_EQ(log.runs.size(), 1U);
  return std::move(log.runs.front());
}

bool says(const std::vector<Oddity>& oddities, int line, const std::string& part) {
  return std::any_of(oddities.begin(), oddities.end(), [&](const Oddity& oddity) {
    return oddity.line == line && has(oddity.text, part);
  });
}

std::string error_of(const std::string& text) {
  try {
    (void)read_nccl_log(text, "test.log");
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::invalid);
    return error.what();
  }
  return "no error";
}

TEST(NcclLog, HoldsRowsInSecondsAndBytesPerSecond) {
  TableCase table;
  table.rows = {{1048576, 50, 40}};
  const NcclRun run = only_run(table_text(table));
  ASSERT_EQ(run.rows.size(), 1U);
  const NcclRow& row = run.rows[0];
  EXPECT_EQ(row.line, 5);
  EXPECT_EQ(row.bytes, 1048576);
  EXPECT_EQ(row.count, 262144);
  EXPECT_EQ(run.dtype, "float");
  EXPECT_EQ(run.redop, "sum");
  EXPECT_DOUBLE_EQ(row.out_of_place->seconds.value, 50e-6);
  EXPECT_DOUBLE_EQ(row.in_place->seconds.value, 40e-6);
  EXPECT_DOUBLE_EQ(row.out_of_place->algbw.value, 20.97e9);  // 1048576 B in 50 us
  EXPECT_DOUBLE_EQ(row.out_of_place->busbw.value, 36.70e9);  // times 7/4
  EXPECT_EQ(row.out_of_place->wrong, 0);
}

TEST(NcclLog, KnowsRanksHostsVersionAndCollectiveFromTheHeader) {
  TableCase table;
  table.factor = 1.875;  // 2 * 15 / 16
  table.rows = smooth_rows();
  const NcclRun run = only_run(
      "# nccl-tests version 2.18.0 nccl-headers=22807 nccl-library=22803\n"
      "# Collective test starting: all_reduce_perf\n"
      "# nThread 1 nGpus 1 minBytes 1024 maxBytes 1073741824 step: 4(factor) iters: 20\n" +
      device_list(16, 8) + table_text(table));
  EXPECT_EQ(run.collective, "all_reduce");
  EXPECT_EQ(run.version, "2.28.3");
  EXPECT_EQ(run.listed_ranks, 16);
  EXPECT_EQ(run.ranks, 16);
  EXPECT_EQ(run.hosts, 2);
  EXPECT_EQ(run.gpu, "NVIDIA Test GPU 80GB");
  EXPECT_EQ(run.announced_most, 1073741824);
  EXPECT_FALSE(run.suspect());
  EXPECT_TRUE(run.oddities.empty()) << run.oddities[0].text;
}

TEST(NcclLog, TellsCollectiveAndRanksFromNumbersAlone) {
  struct Expected {
    const char* redop;
    double factor;
    int parts;
    const char* in_place_wrong;
    const char* collective;
    int ranks;
  };
  // Factors: all_reduce 2 * 95/96; parts (n - 1)/n of 32 and 8.
  for (const Expected& expected : {Expected{"sum", 190.0 / 96, 1, "0", "all_reduce", 96},
                                   Expected{"sum", 31.0 / 32, 32, "0", "reduce_scatter", 32},
                                   Expected{"none", 0.875, 8, "N/A", "all_to_all", 8},
                                   Expected{"sum", 1, 1, "N/A", "send_recv", 0}}) {
    TableCase table;
    table.redop = expected.redop;
    table.factor = expected.factor;
    table.parts = expected.parts;
    table.in_place_wrong = expected.in_place_wrong;
    table.rows = smooth_rows();
    const NcclRun run = only_run(table_text(table));
    EXPECT_EQ(run.collective, expected.collective);
    EXPECT_EQ(run.ranks, expected.ranks) << expected.collective;
    EXPECT_FALSE(run.suspect());
  }
}

TEST(NcclLog, SaysThatItCannotTellAnAllGatherFromAnAllToAll) {
  TableCase table;
  table.redop = "none";
  table.factor = 0.875;
  table.parts = 8;
  table.rows = smooth_rows();
  const NcclRun run = only_run(table_text(table));
  EXPECT_EQ(run.collective, "");
  EXPECT_EQ(run.ranks, 8);
  EXPECT_TRUE(says(run.oddities, 5, "all_gather or an all_to_all"));
}

TEST(NcclLog, ReadsTheOlderTableWithAnErrorColumnAndNoRoot) {
  const NcclRun run = only_run(
      "#                                     out-of-place                    in-place\n"
      "#  size  count  type  redop  time  algbw  busbw  error  time  algbw  busbw  error\n"
      "   1048576   262144  float  sum   100   10.49   18.35  2e-07   102   10.28   17.99  2e-07\n"
      "# Out of bounds values : 0 OK\n");
  EXPECT_EQ(run.ranks, 8);
  EXPECT_DOUBLE_EQ(run.rows[0].out_of_place->seconds.value, 100e-6);
  EXPECT_DOUBLE_EQ(run.rows[0].in_place->seconds.value, 102e-6);
  // A deviation is no count of wrong values.
  EXPECT_FALSE(run.rows[0].out_of_place->wrong.has_value());
  EXPECT_FALSE(run.suspect());
}

TEST(NcclLog, ReadsATableWithThePerIterationColumns) {
  const NcclRun run = only_run(
      "# size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv% "
      "time algbw busbw #wrong i_min i_max i_p99 i_cv% timestamp\n"
      "1048576 262144 float sum -1 100 10.49 18.35 0 90 120 119 3 "
      "102 10.28 17.99 0 95 130 125 4 2031-01-02 03:04:05\n"
      "# Out of bounds values : 0 OK\n");
  EXPECT_DOUBLE_EQ(run.rows[0].in_place->seconds.value, 102e-6);
  EXPECT_EQ(run.oddities.size(), 0U);
}

TEST(NcclLog, TakesTheUsualColumnsWhereTheTitlesAreMangled) {
  TableCase table;
  table.rows = smooth_rows();
  std::string text = table_text(table);
  text.replace(text.find("algbw"), 5, "al bw");
  const NcclLog log = read_nccl_log(text, "test.log");
  EXPECT_TRUE(says(log.oddities, 3, "titles of the table are not readable"));
  EXPECT_EQ(log.runs.at(0).points().size(), table.rows.size());
}

TEST(NcclLog, ReadsRowsWithoutAnyTitles) {
  TableCase table;
  table.rows = {{1048576, 50.12, 50.57}, {4194304, 90.12, 90.57}};
  const NcclRun run = only_run(table_line(table, table.rows[0]) + table_line(table, table.rows[1]));
  ASSERT_EQ(run.rows.size(), 2U);
  EXPECT_DOUBLE_EQ(run.rows[1].in_place->seconds.value, 90.57e-6);
  EXPECT_EQ(run.ranks, 8);
}

TEST(NcclLog, KeepsTheOutOfPlaceHalfWhereTheOtherIsCut) {
  TableCase table;
  table.rows = smooth_rows();
  std::string text = table_text(table);
  // The third row, line 7, loses its end in the middle of the second half.
  const std::size_t row = text.find("       16384");
  const std::size_t end = text.find('\n', row);
  text.erase(end - 16, 16);
  const NcclRun run = only_run(text);
  EXPECT_TRUE(run.rows[2].out_of_place.has_value());
  EXPECT_FALSE(run.rows[2].in_place.has_value());
  EXPECT_TRUE(says(run.oddities, 7, "in-place half of the row is cut"));
  EXPECT_EQ(run.points().size(), table.rows.size());
}

TEST(NcclLog, ReadsTablesOfTheOutOfPlaceHalfOnly) {
  TableCase table;
  table.rows = {{1048576, 50, 0}, {4194304, 90, 0}};
  const std::string titles = "# size count type redop root time algbw busbw #wrong\n";
  const NcclRun run =
      only_run(titles + table_line(table, table.rows[0]) + table_line(table, table.rows[1]) +
               "# Out of bounds values : 0 OK\n");
  ASSERT_EQ(run.rows.size(), 2U);
  EXPECT_FALSE(run.rows[0].in_place.has_value());
  EXPECT_TRUE(run.oddities.empty()) << run.oddities[0].text;
}

TEST(NcclLog, NamesTheLineOfAMangledRowAndLeavesItOut) {
  TableCase table;
  table.rows = smooth_rows();
  std::string text = table_text(table);
  text.replace(text.find("       16384"), 12, "     1x384  ");
  const NcclRun run = only_run(text);
  EXPECT_EQ(run.rows.size(), table.rows.size() - 1);
  EXPECT_TRUE(says(run.oddities, 7, "not readable as a row"));
  EXPECT_TRUE(says(run.oddities, 8, "sizes between 4 KiB and 64 KiB are missing"));
}

TEST(NcclLog, SaysThatARowThatIsCutShortIsLeftOut) {
  TableCase table;
  table.rows = smooth_rows();
  std::string text = table_text(table);
  const std::size_t end = text.find('\n', text.find("       16384"));
  text.erase(text.find("float", end - 90) - 1, end - text.find("float", end - 90) + 1);
  const NcclRun run = only_run(text);
  EXPECT_EQ(run.rows.size(), table.rows.size() - 1);
  EXPECT_TRUE(says(run.oddities, 7, "not readable as a row"));
}

TEST(NcclLog, NamesSizesThatAreMissing) {
  TableCase table;
  table.rows = smooth_rows();
  table.rows.erase(table.rows.begin() + 5);
  const NcclRun run = only_run(table_text(table));
  EXPECT_TRUE(says(run.oddities, 10, "sizes between 256 KiB and 4 MiB are missing"));
}

TEST(NcclLog, ReadsDecimalCommasAndSaysSo) {
  TableCase table;
  table.rows = smooth_rows();
  std::string text = table_text(table);
  for (const TableRow& row : table.rows) {
    const std::size_t from = text.find(std::to_string(row.bytes));
    std::replace(text.begin() + static_cast<std::ptrdiff_t>(from),
                 text.begin() + static_cast<std::ptrdiff_t>(text.find('\n', from)), '.', ',');
  }
  const NcclRun run = only_run(text);
  EXPECT_EQ(run.points().size(), table.rows.size());
  EXPECT_NEAR(run.points()[0].second, table.rows[0].microseconds * 1e-6, 0.01e-6);
  EXPECT_TRUE(says(run.oddities, 5, "decimal commas"));
  EXPECT_FALSE(run.suspect());
}

TEST(NcclLog, LeavesOutATimeOfZero) {
  TableCase table;
  table.rows = smooth_rows();
  std::string text = table_text(table);
  const std::string line = table_line(table, table.rows[2]);
  const std::size_t from = text.find(line);
  text.replace(from, line.size(), "16384 4096 float sum -1 0.00 0.00 0.00 0 0.00 0.00 0.00 0\n");
  const NcclRun run = only_run(text);
  EXPECT_EQ(run.points().size(), table.rows.size() - 1);
  EXPECT_TRUE(says(run.oddities, 7, "time is 0 us"));
}

TEST(NcclLog, KeepsTwoRunsOfOneFileApart) {
  TableCase table;
  table.rows = smooth_rows();
  const std::string titled = table_text(table) + table_text(table);
  EXPECT_EQ(read_nccl_log(titled, "test.log").runs.size(), 2U);

  std::string rows;
  for (const TableRow& row : table.rows) rows += table_line(table, row);
  const NcclLog log = read_nccl_log(table_titles() + rows + rows, "test.log");
  ASSERT_EQ(log.runs.size(), 2U);
  EXPECT_EQ(log.runs[0].rows.size(), table.rows.size());
  EXPECT_EQ(log.runs[1].rows.size(), table.rows.size());
  EXPECT_TRUE(says(log.runs[1].oddities, log.runs[1].line, "sizes start again"));
}

TEST(NcclLog, KeepsElementTypesOfOneTableApart) {
  TableCase table;
  table.rows = smooth_rows();
  std::string halves = table_text(table);
  for (std::size_t at = 0; (at = halves.find("float", at)) != std::string::npos;)
    halves.replace(at, 5, "half ");
  const NcclLog log =
      read_nccl_log(table_text(table) + halves.substr(table_titles().size()), "test.log");
  ASSERT_EQ(log.runs.size(), 2U);
  EXPECT_EQ(log.runs[1].dtype, "half");
}

TEST(NcclLog, ReadsThroughTheMarksOfMpirunAndSrun) {
  TableCase table;
  table.rows = smooth_rows();
  for (const std::string mark : {"[1,0]<stdout>:", "0: ", " 12: "}) {
    std::string text;
    const std::string plain_text = table_text(table);
    Lines lines(plain_text);
    while (lines.next()) text += mark + std::string(lines.text()) + "\r\n";
    EXPECT_EQ(only_run(text).rows.size(), table.rows.size()) << mark;
  }
}

TEST(NcclLog, TakesTheMedianOfASizeThatWasMeasuredSeveralTimes) {
  TableCase table;
  table.rows = {{1048576, 50, 50}, {1048576, 60, 60}, {1048576, 52, 52}};
  const auto points = only_run(table_text(table)).points();
  ASSERT_EQ(points.size(), 1U);
  EXPECT_DOUBLE_EQ(points[0].second, 52e-6);
}

TEST(NcclLog, HasAPlateauAtItsLargestSize) {
  TableCase table;
  table.rows = {{1 << 28, 4000, 4000}, {1 << 29, 4000, 3900}};
  const auto plateau = only_run(table_text(table)).plateau();
  ASSERT_TRUE(plateau.has_value());
  EXPECT_DOUBLE_EQ(plateau->bytes, 1 << 29);
  EXPECT_NEAR(plateau->busbw, (1 << 29) / 3900e-6 * 1.75, 0.02e9);
  EXPECT_NEAR(plateau->growth, 2 * 4000.0 / 3900 - 1, 1e-3);
}

TEST(NcclLog, IsRefusedWhereNoRowIsFound) {
  EXPECT_NE(error_of("").find("test.log: no row"), std::string::npos);
  EXPECT_NE(error_of("hello\nworld 1 2 3\n").find("test.log: no row"), std::string::npos);
  EXPECT_NE(error_of(table_titles() + "1048576 262144 float sum -1\n").find("line 5"),
            std::string::npos);
}

TEST(NcclLog, IsRefusedWhereItHoldsNoEndOfRuns) {
  TableCase table;
  std::string text = table_titles();
  for (int i = 0; i < 3000; ++i) text += table_line(table, {1LL << (40 - i % 30), 5e6, 5e6});
  EXPECT_NE(error_of(text).find("more than 1000 runs"), std::string::npos);
}

TEST(NcclLog, IsRefusedWhereItIsTenMegabytesOfNoise) {
  std::string noise;
  unsigned state = 7;
  while (noise.size() < 10'000'000) {
    state = state * 1664525U + 1013904223U;
    constexpr std::string_view letters = "# 12.5 float sum -1 N/A,\n[]{}x";
    noise += letters[(state >> 16) % letters.size()];
  }
  EXPECT_NE(error_of(noise).find("no row"), std::string::npos);
}

}  // namespace
}  // namespace shardlab::sim
