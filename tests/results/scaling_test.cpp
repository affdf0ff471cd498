#include "results/scaling.h"

#include "tests/results/fixture.h"

namespace shardlab::results {
namespace {

class ScalingTest : public StorageTest {
 protected:
  ScalingTest() : store(path) {}

  RunId start(const RunHeader& header) {
    RunHeader dated = header;
    dated.created = "2031-01-01T00:00:00.00000" + std::to_string(runs_++) + "Z";
    return store.start_run(dated);
  }

  // A complete run whose every iteration takes so many seconds.
  RunId add(const RunHeader& header, double seconds) {
    const RunId run = start(header);
    MetricSamples times{step_seconds(), {}};
    for (std::int64_t i = 0; i < 3; ++i)
      times.samples.push_back({.iteration = i, .value = seconds});
    store.append(run, {.metrics = {times}});
    store.finish_run(run, RunStatus::complete);
    return run;
  }
  RunId add(const std::string& mesh, double seconds) {
    return add(header_of("vit", mesh), seconds);
  }

  std::vector<Curve> curves(const RunFilter& filter = {}) {
    return scaling_curves(open_for_reading(path), filter);
  }
  Curve curve() {
    const auto all = curves();
    EXPECT_EQ(all.size(), 1U);
    return all.at(0);
  }

  Store store;

 private:
  int runs_ = 0;
};

// Ranks by iteration: 1 9 | 4 2 | 3 3 | 8 5, the first is warm-up.
// Slowest rank: 4 3 8 -> median 4; fastest: 2 3 5 -> 3; together: 6 6 13 -> 6.
TEST_F(ScalingTest, SummariesCombineRanksFirstAndIterationsThen) {
  const RunId run = store.start_run(header_of("vit"));
  const auto samples = [](Metric metric, AcrossRanks across) {
    metric.across_ranks = across;
    MetricSamples all{metric, {}};
    const double values[4][2] = {{1, 9}, {4, 2}, {3, 3}, {8, 5}};
    for (std::int64_t i = 0; i < 4; ++i)
      for (std::int32_t rank = 0; rank < 2; ++rank)
        all.samples.push_back({i, rank, i == 0, values[i][rank]});
    return all;
  };
  store.append(run, {.metrics = {samples({.name = "slowest"}, AcrossRanks::max),
                                 samples({.name = "fastest"}, AcrossRanks::min),
                                 samples({.name = "together"}, AcrossRanks::sum)}});
  const Reader reader = open_for_reading(path);
  const auto slowest = summarize(reader, run, "slowest").value();
  EXPECT_EQ(slowest.median, 4);
  EXPECT_EQ(slowest.iterations, 3);
  EXPECT_EQ(slowest.interval.value().low, 3);
  EXPECT_EQ(slowest.interval.value().high, 8);
  EXPECT_EQ(summarize(reader, run, "fastest").value().median, 3);
  EXPECT_EQ(summarize(reader, run, "together").value().median, 6);
}

TEST_F(ScalingTest, NothingIsSummarizedWithoutTimedSamples) {
  const RunId run = store.start_run(header_of("vit"));
  store.append(run, {.metrics = {{step_seconds(), {{.warmup = true, .value = 1}}},
                                 {loss(), {{.value = 6}}}}});
  const Reader reader = open_for_reading(path);
  EXPECT_FALSE(summarize(reader, run, "step_seconds"));
  EXPECT_FALSE(summarize(reader, run, "no such metric"));
  EXPECT_FALSE(summarize(reader, {99}, "loss"));
  EXPECT_EQ(summarize(reader, run, "loss").value().median, 6);
  EXPECT_FALSE(summarize(reader, run, "loss").value().interval) << "one iteration has none";
}

TEST_F(ScalingTest, APredictedIntervalIsThatOfThePrediction) {
  const RunId run = store.start_run(header_of("vit"));
  store.append(run, {.metrics = {samples_of(step_seconds(), 1, 1, 2)},
                     .uncertainties = {{step_seconds(), 1.5, 3, 0.8, "vendor sheet"}}});
  const auto summary = summarize(open_for_reading(path), run, "step_seconds").value();
  EXPECT_EQ(summary.median, 2);
  EXPECT_EQ(summary.interval.value().low, 1.5);
  EXPECT_EQ(summary.interval.value().high, 3);
  EXPECT_EQ(summary.coverage, 0.8);
  EXPECT_EQ(summary.source, "vendor sheet");
}

TEST_F(ScalingTest, AMeasuredIntervalCovers95PercentAndHasNoSource) {
  const RunId run = add("domain=1", 4);
  const auto summary = summarize(open_for_reading(path), run, "step_seconds").value();
  EXPECT_EQ(summary.coverage, 0.95);
  EXPECT_EQ(summary.source, "");
}

// 3 alike send 10 each, 1 sends 7.
TEST_F(ScalingTest, FoldedRanksCountAsManyTimesAsTheyStandFor) {
  const RunId run = store.start_run(header_of("vit", "domain=4"));
  store.append(run,
               {.metrics = {{bytes_sent(), {{.rank = 0, .value = 10}, {.rank = 3, .value = 7}}}},
                .folds = {{0, 3, "0-2"}, {3, 1, "3"}}});
  EXPECT_EQ(summarize(open_for_reading(path), run, "bytes_sent").value().median, 37);
}

// 60 alike and 4 alike of 64; the loss belongs to all of them and counts once.
TEST_F(ScalingTest, FoldsCountInSumsOnlyAndOnlyForTheRanksTheyStandFor) {
  const RunId run = store.start_run(header_of("vit", "domain=64"));
  MetricSamples whole{{.name = "whole", .across_ranks = AcrossRanks::sum}, {{.value = 5}}};
  store.append(run,
               {.metrics = {{flop(), {{.rank = 0, .value = 100}, {.rank = 60, .value = 1}}},
                            {peak_bytes(), {{.rank = 0, .value = 7}, {.rank = 60, .value = 9}}},
                            whole},
                .folds = {{0, 60, "0-59"}, {60, 4, "60-63"}}});
  const Reader reader = open_for_reading(path);
  EXPECT_EQ(summarize(reader, run, "flop").value().median, 6004);
  EXPECT_EQ(summarize(reader, run, "peak_bytes").value().median, 9);
  EXPECT_EQ(summarize(reader, run, "whole").value().median, 5);
}

// Another run's folds must not be taken for those of this one.
TEST_F(ScalingTest, FoldsOfOneRunLeaveOthersAlone) {
  const RunId folded = store.start_run(header_of("vit", "domain=2"));
  store.append(folded,
               {.metrics = {{flop(), {{.rank = 0, .value = 10}}}}, .folds = {{0, 2, "0-1"}}});
  const RunId plain = store.start_run(header_of("vit", "domain=2"));
  store.append(plain, {.metrics = {samples_of(flop(), 1, 2, 10)}});
  const Reader reader = open_for_reading(path);
  EXPECT_EQ(summarize(reader, folded, "flop").value().median, 20);
  EXPECT_EQ(summarize(reader, plain, "flop").value().median, 21);
}

TEST_F(ScalingTest, SpeedupAndEfficiencyFollowFromTheMedians) {
  add("domain=4", 3);
  add("domain=1", 8);
  add("data=2,domain=1", 5);
  const Curve c = curve();
  ASSERT_EQ(c.rows.size(), 3U);
  EXPECT_EQ(c.series.mesh, "");
  EXPECT_EQ(c.rows[0].mesh, "domain=1");
  EXPECT_EQ(c.rows[0].speedup, 1);
  EXPECT_EQ(c.rows[0].efficiency, 1);
  EXPECT_EQ(c.rows[1].mesh, "data=2,domain=1");
  EXPECT_EQ(c.rows[1].ranks, 2);
  EXPECT_EQ(c.rows[1].seconds.value().median, 5);
  EXPECT_EQ(c.rows[1].speedup, 1.6);
  EXPECT_EQ(c.rows[1].efficiency, 0.8);
  EXPECT_EQ(c.rows[2].ranks, 4);
  EXPECT_DOUBLE_EQ(c.rows[2].speedup.value(), 8.0 / 3);
  EXPECT_DOUBLE_EQ(c.rows[2].efficiency.value(), 2.0 / 3);
}

TEST_F(ScalingTest, WeakScalingComparesEqualTimes) {
  RunHeader header = header_of("vit", "domain=1");
  header.series.parameters = R"({"scaling":"weak"})";
  add(header, 4);
  header.series.mesh = "domain=2";
  add(header, 5);
  const Curve c = curve();
  EXPECT_EQ(c.rows.at(1).speedup, 1.6);
  EXPECT_EQ(c.rows.at(1).efficiency, 0.8);
}

TEST_F(ScalingTest, WithoutOneRankThereIsNoSpeedup) {
  add("domain=2", 3);
  const Curve c = curve();
  EXPECT_EQ(c.rows.at(0).seconds.value().median, 3);
  EXPECT_FALSE(c.rows.at(0).speedup);
  EXPECT_FALSE(c.rows.at(0).efficiency);
}

TEST_F(ScalingTest, OversubscribedRowsShowNoEfficiency) {
  add("domain=1", 8);
  RunHeader header = header_of("vit", "domain=3");
  header.oversubscribed = true;
  add(header, 4);
  const Curve c = curve();
  EXPECT_EQ(c.rows.at(1).speedup, 2);
  EXPECT_FALSE(c.rows.at(1).efficiency);
  EXPECT_TRUE(c.rows.at(1).oversubscribed);
}

TEST_F(ScalingTest, TheNewestRunOfAMeshWins) {
  add("domain=1", 8);
  add("domain=2", 5);
  const RunId newest = add("domain=2", 4);
  const Curve c = curve();
  ASSERT_EQ(c.rows.size(), 2U);
  EXPECT_EQ(c.rows[1].run, newest);
  EXPECT_EQ(c.rows[1].efficiency, 1);
}

TEST_F(ScalingTest, ANewestRunThatFailedOrWasSkippedIsShownWithItsReasonAndNoTime) {
  add("domain=1", 8);
  add("domain=2", 5);
  const RunId failed = start(header_of("vit", "domain=2"));
  store.append(failed, {.metrics = {samples_of(step_seconds(), 2, 2)}});
  store.finish_run(failed, RunStatus::failed, "rank 1 threw");
  store.finish_run(start(header_of("vit", "domain=4")), RunStatus::skipped, "bfloat16");
  const Curve c = curve();
  ASSERT_EQ(c.rows.size(), 3U);
  EXPECT_EQ(c.rows[1].status, RunStatus::failed);
  EXPECT_EQ(c.rows[1].reason, "rank 1 threw");
  EXPECT_FALSE(c.rows[1].seconds);
  EXPECT_FALSE(c.rows[1].efficiency);
  EXPECT_EQ(c.rows[2].status, RunStatus::skipped);
}

TEST_F(ScalingTest, RunsThatHaveNotEndedAreLeftOut) {
  add("domain=1", 8);
  start(header_of("vit", "domain=1"));
  EXPECT_EQ(curve().rows.at(0).seconds.value().median, 8);
}

TEST_F(ScalingTest, TimesOfTwoEnvironmentsShareNoCurveButPredictionsDo) {
  RunHeader header = header_of("vit", "domain=1");
  add(header, 8);
  header.environment.processor = "another CPU";
  add(header, 6);
  EXPECT_EQ(curves().size(), 2U);
  header.series.execution = Execution::predict;
  header.series.machine = "dgx-h100";
  add(header, 4);
  header.environment.processor = "a third CPU";
  header.series.mesh = "domain=2";
  add(header, 2);
  const auto all = curves();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].series.execution, Execution::predict) << "newest first";
  EXPECT_EQ(all[0].environment, "");
  EXPECT_EQ(all[0].rows.at(1).efficiency, 1);
}

TEST_F(ScalingTest, ScenariosAndParametersHaveCurvesOfTheirOwn) {
  add(header_of("vit", "domain=1"), 8);
  add(header_of("ring", "domain=1"), 8);
  RunHeader header = header_of("ring", "domain=2");
  header.series.parameters = R"({"heads":8})";
  add(header, 8);
  EXPECT_EQ(curves().size(), 3U);
  EXPECT_EQ(curves({.scenario = "ring"}).size(), 2U);
}

TEST_F(ScalingTest, PredictedAndPublishedRowsOfTheSameMeshStandBesideMeasuredOnes) {
  RunHeader header = header_of("vit", "domain=1");
  add(header, 8);
  header.series.execution = Execution::predict;
  header.series.machine = "dgx-h100";
  add(header, 2);
  header.series.execution = Execution::published;
  add(header, 4);
  header.series.mesh = "domain=2";
  add(header, 3);
  const auto all = curves();
  const auto measured =
      std::ranges::find_if(all, [](const Curve& each) { return is_measured(each.series); });
  ASSERT_NE(measured, all.end());
  const auto beside = companions(*measured, measured->rows.at(0), all);
  ASSERT_EQ(beside.size(), 2U);
  EXPECT_EQ(beside[0].curve->series.execution, Execution::published) << "newest first";
  EXPECT_EQ(beside[0].row->mesh, "domain=1");
  EXPECT_EQ(beside[0].ratio, 0.5);
  EXPECT_EQ(beside[1].ratio, 0.25);
  for (const Curve& other : all)
    if (&other != &*measured) {
      EXPECT_TRUE(companions(other, other.rows.at(0), all).empty());
    }
}

TEST_F(ScalingTest, OtherProblemsDoNotStandBesideAMeasuredOne) {
  const RunHeader measured = header_of("vit", "domain=1");
  add(measured, 8);
  RunHeader predicted = measured;
  predicted.series.execution = Execution::predict;
  predicted.series.machine = "dgx-h100";
  RunHeader other = predicted;
  other.series.scenario = "ring";
  add(other, 2);
  other = predicted;
  other.series.dtype = "bfloat16";
  add(other, 2);
  other = predicted;
  other.series.train = true;
  add(other, 2);
  other = predicted;
  other.series.parameters = R"({"heads":8})";
  add(other, 2);
  const auto all = curves();
  ASSERT_EQ(all.size(), 5U);
  for (const Curve& each : all)
    EXPECT_TRUE(companions(each, each.rows.at(0), all).empty()) << text_of(each.series);
}

TEST_F(ScalingTest, AnOversubscribedTimeIsComparedWithNothing) {
  RunHeader header = header_of("vit", "domain=1");
  header.oversubscribed = true;
  add(header, 8);
  header.oversubscribed = false;
  header.series.execution = Execution::predict;
  header.series.machine = "dgx-h100";
  add(header, 2);
  const auto all = curves();
  const auto beside = companions(all.at(1), all.at(1).rows.at(0), all);
  ASSERT_EQ(beside.size(), 1U);
  EXPECT_FALSE(beside[0].ratio);
}

TEST_F(ScalingTest, MemoryTrafficAndChecksStandBesideTheTimes) {
  const RunId run = start(header_of("vit"));
  store.append(run,
               {.metrics = {samples_of(peak_bytes(), 1, 2, 100), samples_of(bytes_sent(), 2, 2)},
                .checks = {{"a", 0, 1}, {"b", 0, 1}, {"c", 2, 1}}});
  store.finish_run(run, RunStatus::complete);
  const CurveRow row = curve().rows.at(0);
  EXPECT_EQ(row.peak_bytes, 101);
  EXPECT_EQ(row.bytes_sent, 5);  // of 1 + 2 and 3 + 4
  EXPECT_EQ(row.checks.passed, 2);
  EXPECT_EQ(row.checks.failed, 1);
  EXPECT_FALSE(row.seconds);
}

}  // namespace
}  // namespace shardlab::results
