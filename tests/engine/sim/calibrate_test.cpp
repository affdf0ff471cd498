#include "engine/sim/calibrate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/core/check.h"
#include "engine/sim/collective_trust.h"
#include "tests/engine/sim/wires.h"

namespace shardlab::sim {
namespace {

constexpr double mebi = 1 << 20;

/// A log of an all-reduce whose times are the predicted ones times a factor.
ComparedLog scaled(const std::string& name, const Group& group, double factor,
                   const std::string& fabric = "here") {
  ComparedLog log{name, fabric, "all_reduce", group, {}};
  for (double bytes = 1024; bytes <= 1024 * mebi; bytes *= 2) {
    const double predicted = choose(dgx_h100(), group, "all_reduce", bytes).seconds;
    log.rows.push_back({bytes, factor * predicted, predicted, predicted, 0});
  }
  return log;
}

std::string table(const std::string& rows) {
  return "#\n#       size         count      type   redop    root     time   algbw   busbw  wrong  "
         "   "
         "time   algbw   busbw  wrong\n" +
         rows;
}

/// One size of nccl-tests: a GiB on 8 ranks in so many microseconds.
std::string gibibyte_in(double us) {
  const double rate = 1073741824 / us * 1e-3;
  std::string text(256, '\0');
  const int length = std::snprintf(text.data(), text.size(),
                                   "1073741824 268435456 float sum -1 %.1f %.2f %.2f 0 %.1f %.2f "
                                   "%.2f 0\n",
                                   us, rate, 1.75 * rate, us, rate, 1.75 * rate);
  text.resize(static_cast<std::size_t>(length));
  return text;
}

NcclRun run_of(const std::string& rows) {
  return read_nccl_log(table(rows), "test.txt").runs.at(0);
}

std::string refusal(const NcclRun& run, const ComparedLog& log) {
  try {
    refuse_faults(run, log);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(Calibrate, TwoLogsThatAgreeCorrectAThird) {
  // 1.2 and 1.25: the median of the two logarithms is that of sqrt(1.5) = 1.2247.
  std::vector<ComparedLog> logs{scaled("a", {8, 1}, 1.2), scaled("b", {4, 1}, 1.25),
                                scaled("c", {2, 1}, 1.3)};
  correct_from_others(logs);
  for (const ComparedRow& row : logs[2].rows) {
    EXPECT_EQ(row.others, 2);
    EXPECT_NEAR(row.corrected / row.predicted, std::sqrt(1.5), 1e-9);
  }
}

TEST(Calibrate, OneOtherLogCorrectsNothing) {
  std::vector<ComparedLog> logs{scaled("a", {8, 1}, 1.2), scaled("b", {4, 1}, 1.2)};
  correct_from_others(logs);
  EXPECT_EQ(logs[1].rows[0].others, 0);
  EXPECT_EQ(logs[1].rows[0].corrected, logs[1].rows[0].predicted);
}

TEST(Calibrate, LogsThatDisagreeBeyondHalfCorrectNothing) {
  const ComparedLog a = scaled("a", {8, 1}, 1);
  const ComparedLog near = scaled("b", {4, 1}, 1.49);
  const ComparedLog far = scaled("c", {4, 1}, 1.51);
  EXPECT_EQ(correction_at(std::vector<const ComparedLog*>{&a, &near}, mebi).logs, 2);
  EXPECT_EQ(correction_at(std::vector<const ComparedLog*>{&a, &far}, mebi).logs, 0);
}

TEST(Calibrate, LogsOfAnotherFabricOrCollectiveCorrectNothing) {
  std::vector<ComparedLog> logs{scaled("a", {8, 1}, 1.2), scaled("b", {4, 1}, 1.2, "elsewhere"),
                                scaled("c", {2, 1}, 1.2, "elsewhere"), scaled("d", {4, 1}, 1.2),
                                scaled("e", {2, 1}, 1.2)};
  logs[3].collective = logs[4].collective = "all_gather";
  correct_from_others(logs);
  for (const ComparedLog& log : logs) EXPECT_EQ(log.rows[0].others, 0) << log.name;
}

TEST(Calibrate, ACorrectionReachesAFactorOfFourBeyondTheLogs) {
  const ComparedLog a = scaled("a", {8, 1}, 1.2);
  const std::vector<const ComparedLog*> two{&a, &a};
  EXPECT_EQ(correction_at(two, 256).logs, 2);
  EXPECT_EQ(correction_at(two, 255).logs, 0);
  EXPECT_EQ(correction_at(two, 4096 * mebi).logs, 2);
  EXPECT_EQ(correction_at(two, 4097 * mebi).logs, 0);
}

TEST(Calibrate, ACurveThatIsNotMonotoneCorrectsNothing) {
  const ComparedLog a = scaled("a", {8, 1}, 1.2);
  ComparedLog bent = scaled("b", {4, 1}, 1.2);
  EXPECT_EQ(not_monotone(bent), "");
  bent.rows[3].measured *= 10;
  EXPECT_NE(not_monotone(bent).find("less time"), std::string::npos);
  EXPECT_EQ(correction_at(std::vector<const ComparedLog*>{&a, &bent}, mebi).logs, 0);
  ComparedLog dip = scaled("c", {4, 1}, 1.2);
  for (ComparedRow& row : dip.rows)
    if (row.bytes > 64 * mebi) row.measured *= 1.3;
  EXPECT_NE(not_monotone(dip).find("slower"), std::string::npos);
}

TEST(Calibrate, AnOwnLogBecomesTheCurveOfItsGroup) {
  const std::vector<CollectiveCurve> curves =
      curves_of({scaled("own.txt", {8, 1}, 1.3)}, dgx_h100(), true);
  ASSERT_EQ(curves.size(), 1U);
  EXPECT_EQ(curves[0].ranks, 8);
  EXPECT_EQ(curves[0].hosts, 1);
  EXPECT_EQ(curves[0].source, Source::user_measured);
  EXPECT_EQ(curves[0].from, "own.txt");
  EXPECT_EQ(curves[0].points.size(), 21U);
  EXPECT_TRUE(curves_of({scaled("public.txt", {8, 1}, 1.3)}, dgx_h100(), false).empty());
}

TEST(Calibrate, BelowItsFirstSizeACurveFollowsTheTables) {
  ComparedLog log = scaled("own.txt", {8, 1}, 1.3);
  log.rows.erase(log.rows.begin(), log.rows.end() - 2);  // 512 MiB and 1 GiB are left.
  const CollectiveCurve curve = curves_of({log}, dgx_h100(), true).at(0);
  // 1 KiB to 256 MiB by factors of 4, and the two of the log.
  ASSERT_EQ(curve.points.size(), 12U);
  EXPECT_DOUBLE_EQ(curve.points[0].second, choose(dgx_h100(), {8, 1}, "all_reduce", 1024).seconds);
  EXPECT_NE(curve.from.find("below 536870912 B"), std::string::npos);
}

TEST(Calibrate, OwnLogsThatAgreeGiveOtherGroupsDerivedCurves) {
  const std::vector<CollectiveCurve> curves =
      curves_of({scaled("a", {16, 2}, 1.2), scaled("b", {32, 4}, 1.2)}, dgx_h100(), true);
  // 2 and 4 hosts are measured; 8 is twice the most.
  ASSERT_EQ(curves.size(), 3U);
  EXPECT_EQ(curves[2].ranks, 64);
  EXPECT_EQ(curves[2].hosts, 8);
  EXPECT_EQ(curves[2].source, Source::derived);
  for (const auto& [bytes, seconds] : curves[2].points)
    EXPECT_GE(seconds, 1.2 * choose(dgx_h100(), {64, 8}, "all_reduce", bytes).seconds * (1 - 1e-9));
}

TEST(Calibrate, AnAllToAllIsCountedOverAllRanks) {
  ComparedLog log = scaled("own.txt", {8, 1}, 1);
  log.collective = "all_to_all";
  const std::vector<CollectiveCurve> curves = curves_of({log}, dgx_h100(), true);
  EXPECT_EQ(curves.at(0).points[0].first, 8 * 1024.0);
}

TEST(Calibrate, GroupsComeFromTheLogTheStatementOrTheMachine) {
  NcclRun run;
  EXPECT_EQ(group_of(run, "a.txt", dgx_h100(), 8, 0).domains, 1);
  EXPECT_EQ(group_of(run, "a.txt", dgx_h100(), 32, 0).domains, 4);
  EXPECT_EQ(group_of(run, "a.txt", dgx_h100(), 8, 2).domains, 2);
  EXPECT_EQ(group_of(run, "a.txt", gb200_rack(), 8, 2).domains, 1);
  EXPECT_THROW((void)group_of(run, "a.txt", dgx_h100(), 0, 0), Error);
  EXPECT_THROW((void)group_of(run, "a.txt", dgx_h100(), 13, 0), Error);
  run.least_ranks = run.most_ranks = run.ranks = 16;
  EXPECT_EQ(group_of(run, "a.txt", dgx_h100(), 0, 0).ranks, 16);
  EXPECT_THROW((void)group_of(run, "a.txt", dgx_h100(), 8, 0), Error);
}

// 2 (n - 1) / n is 1.9844 on 128 ranks and 1.9861 on 144; four digits tell them apart.
TEST(Calibrate, AStatedNumberOfRanksThatTheRatesContradictIsRefused) {
  std::string text = "# size count type redop root time algbw busbw #wrong\n";
  for (const double gib : {1.0, 2.0, 4.0, 8.0}) {
    const double bytes = gib * 1024 * mebi;
    text += fmt::format("{:.0f} {:.0f} float sum -1 {:.1f} {:.2f} {:.2f} 0\n", bytes, bytes / 4,
                        bytes / 4e5, 400.0, 400.0 * 2 * 127 / 128);
  }
  const NcclRun run = read_nccl_log(text, "128.txt").runs.at(0);
  EXPECT_EQ(run.ranks, 128);
  try {
    (void)group_of(run, "128.txt", gb200_rack(), 144, 36);
    FAIL() << "144 ranks are accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "128.txt: line 2: 144 ranks are stated, but busbw by algbw is that of 128 ranks");
  }
}

TEST(Calibrate, ADerivedCurveKnowsTheRanksOfItsLogs) {
  const std::vector<CollectiveCurve> curves =
      curves_of({scaled("a", {16, 2}, 1.2), scaled("b", {32, 4}, 1.2)}, dgx_h100(), false);
  for (const CollectiveCurve& curve : curves) {
    EXPECT_EQ(curve.log_ranks, std::pair(16, 32));
    EXPECT_EQ(curve.extrapolated(), curve.ranks > 32) << curve.ranks;
  }
  EXPECT_EQ(curves.back().ranks, 64);
}

TEST(Calibrate, AFaultIsRefusedWithItsFileAndReason) {
  NcclRun run = run_of(gibibyte_in(3900));
  run.collective = "all_reduce";
  ASSERT_FALSE(run.suspect());
  const ComparedLog log = compared(run, "test.txt", dgx_h100(), {8, 1}, "nvlink");
  EXPECT_EQ(refusal(run, log), "");
  run.suspicions.push_back({Symptom::wrong_values, 7, "wrong values in 1 of 1 rows"});
  EXPECT_NE(refusal(run, log).find("test.txt: line 7: not to be fitted: wrong values"),
            std::string::npos);
}

TEST(Calibrate, ALogFarBelowTheMachineIsRefusedAndASlowMachineOverrulesTheReader) {
  NcclRun slow = run_of(gibibyte_in(1e6));
  slow.collective = "all_reduce";
  ASSERT_TRUE(slow.suspect());
  ASSERT_EQ(slow.suspicions[0].symptom, Symptom::slow);
  const ComparedLog on_fast = compared(slow, "test.txt", dgx_h100(), {8, 1}, "nvlink");
  EXPECT_NE(refusal(slow, on_fast).find("not to be fitted"), std::string::npos);
  ComparedLog on_slow = on_fast;
  on_slow.rows[0].predicted = on_slow.rows[0].measured;
  EXPECT_EQ(refusal(slow, on_slow), "");

  NcclRun third = run_of(gibibyte_in(3900 * 3));
  third.collective = "all_reduce";
  ASSERT_FALSE(third.suspect());
  const ComparedLog log = compared(third, "test.txt", dgx_h100(), {8, 1}, "nvlink");
  EXPECT_NE(refusal(third, log).find("% of what the machine should"), std::string::npos);
}

TEST(CollectiveTrust, FiveOfSixResidualsLieInside) {
  std::vector<Residual> residuals;
  for (const double error : {0.1, -0.2, 0.3, -0.4, 0.5, -0.6})
    residuals.push_back({Band::middle, error, 1});
  EXPECT_DOUBLE_EQ(half_width_from(residuals, Band::middle), 0.5);
  EXPECT_EQ(half_width_from(residuals, Band::small), 0);
  residuals[0].weight = 10;
  // 10 of 15 weigh 0.1; 12.5 are reached by the third of the others.
  EXPECT_DOUBLE_EQ(half_width_from(residuals, Band::middle), 0.4);
}

TEST(CollectiveTrust, WhatNoLogShowsIsNotValidated) {
  EXPECT_GT(collective_trust("all_reduce", 1024).logs, 0);
  EXPECT_EQ(collective_trust("all_to_all", 1024).logs, 0);
  EXPECT_EQ(collective_trust("all_gather", 256 * mebi).logs, 0);
  EXPECT_GT(collective_trust("all_gather", 256 * mebi).half_width,
            collective_trust("all_reduce", 256 * mebi).half_width);
}

}  // namespace
}  // namespace shardlab::sim
