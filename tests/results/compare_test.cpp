#include "results/compare.h"

#include <algorithm>

#include "results/turns.h"
#include "tests/results/fixture.h"
#include "tests/results/noise.h"

namespace shardlab::results {
namespace {

class CompareTest : public StorageTest {
 protected:
  /// A complete run with a time of 20 iterations and 1,000 bytes sent.
  RunId add(Store& store, RunHeader header, double median = 0.02, double bytes = 1000,
            std::uint64_t seed = 1) {
    const RunId run = store.start_run(header);
    MetricSamples times{step_seconds(), {}};
    Noise noise(seed);
    std::int64_t iteration = 0;
    for (const double value : noise.steps(20, median, 0.005))
      times.samples.push_back({.iteration = iteration++, .rank = 0, .value = value});
    store.append(run, {.metrics = {times, {bytes_sent(), {{.rank = 0, .value = bytes}}}}});
    store.finish_run(run, RunStatus::complete);
    return run;
  }

  std::string file(const std::string& name) { return (folder / name).string(); }

  Comparison compare_files(const ComparisonOptions& options = {}) {
    return compare(find_side(file("base"), path), find_side(file("next"), path), options);
  }

  static Finding of(const Comparison& comparison, const std::string& metric) {
    const auto found = std::ranges::find_if(
        comparison.findings, [&](const Finding& f) { return f.metric.name == metric; });
    if (found == comparison.findings.end()) throw Error(Fault::internal, "no " + metric);
    return *found;
  }
};

TEST_F(CompareTest, ExactQuantitiesAreHeldAcrossMachinesAndTimesAreNot) {
  Store base(file("base")), next(file("next"));
  add(base, header_of("vit"));
  RunHeader other = header_of("vit");
  other.environment.processor = "another CPU";
  add(next, other, 0.02, 1064);
  const Comparison comparison = compare_files();
  const Finding bytes = of(comparison, "bytes_sent");
  EXPECT_EQ(bytes.verdict, Verdict::worse);
  EXPECT_EQ(bytes.reason, "64 B more");
  const Finding time = of(comparison, "step_seconds");
  EXPECT_EQ(time.verdict, Verdict::not_comparable);
  EXPECT_EQ(time.differing, std::vector<std::string>{"processor"});
  EXPECT_EQ(comparison.findings[0].metric, bytes_sent()) << "the worst comes first";
  const Comparison allowed = compare_files({.allowed = {"processor"}});
  EXPECT_NE(of(allowed, "step_seconds").verdict, Verdict::not_comparable);
}

TEST_F(CompareTest, PairsOfRunsShowFivePercent) {
  Store base(file("base")), next(file("next"));
  for (std::uint64_t i = 0; i < 10; ++i) {
    RunHeader header = header_of("vit");
    header.state = with_turns("{}", {std::to_string(i)});
    add(base, header, 0.02, 1000, 2 * i);
    add(next, header, 0.021, 1000, 2 * i + 1);
  }
  const Finding time = of(compare_files(), "step_seconds");
  EXPECT_EQ(time.verdict, Verdict::worse) << time.reason;
  EXPECT_NEAR(*time.ratio, 1.05, 0.01);
  EXPECT_EQ(time.base->samples, 10);
  EXPECT_EQ(of(compare_files(), "bytes_sent").verdict, Verdict::same);
}

TEST_F(CompareTest, OneRunASideProvesNothingOfTimes) {
  Store base(file("base")), next(file("next"));
  add(base, header_of("vit"));
  add(next, header_of("vit"), 0.03);
  const Comparison comparison = compare_files();
  EXPECT_EQ(of(comparison, "step_seconds").verdict, Verdict::undecided);
  EXPECT_TRUE(std::ranges::any_of(comparison.notes, [](const std::string& note) {
    return contains(note, "fewer than 5 runs a side");
  }));
}

TEST_F(CompareTest, OddSamplesAreToldInUnitsOfPeople) {
  Store base(file("base")), next(file("next"));
  add(base, header_of("vit"));
  const RunId run = next.start_run(header_of("vit"));
  MetricSamples times{step_seconds(), {}};
  for (std::int64_t i = 0; i < 20; ++i)
    times.samples.push_back(
        {.iteration = i, .rank = 0, .value = (i % 2 == 0 ? 511e-6 : 730e-6) + 1e-9 * i});
  next.append(run, {.metrics = {times}});
  next.finish_run(run, RunStatus::complete);
  const Comparison comparison = compare_files();
  EXPECT_TRUE(std::ranges::any_of(comparison.notes, [](const std::string& note) {
    return contains(note, "new: ") && contains(note, "511 us") && contains(note, "730 us");
  })) << comparison.notes.size();
}

TEST_F(CompareTest, OversubscribedRunsAreHeldByWhatIsExactOnly) {
  Store base(file("base")), next(file("next"));
  RunHeader header = header_of("vit");
  header.oversubscribed = true;
  add(base, header);
  add(next, header, 0.2);
  const Comparison comparison = compare_files();
  ASSERT_EQ(comparison.findings.size(), 1U);
  EXPECT_EQ(comparison.findings[0].metric.name, "bytes_sent");
  EXPECT_TRUE(contains(comparison.notes.at(0), "more ranks than cores")) << comparison.notes[0];
}

TEST_F(CompareTest, SeriesOfOneSideAreNewOrVanishedAndFailedOnesSayWhy) {
  Store base(file("base")), next(file("next"));
  add(base, header_of("vit"));
  add(base, header_of("gone"));
  add(next, header_of("added"));
  const RunId failed = next.start_run(header_of("vit"));
  next.finish_run(failed, RunStatus::failed, "no memory");
  const Comparison comparison = compare_files();
  EXPECT_FALSE(shares_series(comparison));
  EXPECT_EQ(comparison.count(Verdict::vanished), 2);
  EXPECT_EQ(comparison.count(Verdict::added), 1);
  EXPECT_TRUE(std::ranges::any_of(comparison.findings, [](const Finding& f) {
    return contains(f.reason, "there its run failed: no memory");
  }));
}

TEST_F(CompareTest, AllowedFieldsJoinSeriesThatDifferInThem) {
  Store base(file("base")), next(file("next"));
  RunHeader header = header_of("vit");
  add(base, header);
  header.series.dtype = "bfloat16";
  add(next, header, 0.02, 500);
  EXPECT_FALSE(shares_series(compare_files()));
  const Comparison comparison = compare_files({.allowed = {"dtype"}});
  EXPECT_TRUE(shares_series(comparison));
  EXPECT_EQ(of(comparison, "bytes_sent").verdict, Verdict::better);
}

TEST_F(CompareTest, OnlyTheNewestCommitOfASideStandsForIt) {
  Store base(file("base")), next(file("next"));
  RunHeader header = header_of("vit");
  header.commit = "old";
  header.created = "2031-02-03T04:05:06.000000Z";
  add(base, header, 0.02, 7);
  header.commit = "new";
  header.created = "2031-02-04T04:05:06.000000Z";
  add(base, header);
  add(next, header);
  const Comparison comparison = compare_files();
  EXPECT_EQ(of(comparison, "bytes_sent").verdict, Verdict::same);
  EXPECT_TRUE(contains(comparison.notes.at(0), "1 runs of older commits")) << comparison.notes[0];
}

TEST_F(CompareTest, AGrownSerialFractionIsFoundOnFourSizesAndNotOnThree) {
  Store base(file("base")), next(file("next"));
  std::uint64_t seed = 0;
  const auto sweep = [&](Store& store, double serial, const std::vector<int>& sizes) {
    for (const int ranks : sizes)
      for (int start = 0; start < 6; ++start)
        add(store, header_of("vit", "domain=" + std::to_string(ranks)),
            serial + (1 - serial) / ranks, 1000, seed++);
  };
  sweep(base, 0.05, {1, 2, 4});
  sweep(next, 0.09, {1, 2, 4});
  const ComparisonOptions options{.apart_floor = 0.02};
  const Finding few = of(compare_files(options), "serial_fraction");
  EXPECT_EQ(few.verdict, Verdict::not_enough);
  EXPECT_EQ(few.reason, "3 sizes on both sides; a curve needs 4");
  sweep(base, 0.05, {8});
  sweep(next, 0.09, {8});
  const Comparison comparison = compare_files(options);
  const Finding serial = of(comparison, "serial_fraction");
  EXPECT_EQ(serial.verdict, Verdict::worse) << serial.reason;
  EXPECT_NEAR(serial.base->median, 0.05, 0.01);
  EXPECT_NEAR(serial.next->median, 0.09, 0.01);
  EXPECT_EQ(serial.series.mesh, "");
  // 1/8 over 0.05 + 0.95/8 is 0.741, over 0.09 + 0.91/8 it is 0.613.
  const Finding efficiency = of(comparison, "efficiency_at_8");
  EXPECT_EQ(efficiency.verdict, Verdict::worse) << efficiency.reason;
  EXPECT_NEAR(efficiency.base->median, 0.741, 0.01);
  EXPECT_NEAR(efficiency.next->median, 0.613, 0.01);
}

TEST_F(CompareTest, AMeasurementThatLeavesItsPredictionIsDrift) {
  Store base(file("base")), next(file("next"));
  RunHeader predicted = header_of("vit");
  predicted.series.execution = Execution::predict;
  predicted.series.machine = "this-cpu";
  for (Store* store : {&base, &next}) {
    const RunId run = store->start_run(predicted);
    store->append(run, {.metrics = {{step_seconds(), {{.rank = 0, .value = 0.02}}}}});
    store->finish_run(run, RunStatus::complete);
  }
  for (std::uint64_t i = 0; i < 8; ++i) {
    add(base, header_of("vit"), 0.021, 1000, i);
    add(next, header_of("vit"), 0.026, 1000, 50 + i);
  }
  const Finding drift = of(compare_files(), "measured_over_predicted on this-cpu");
  EXPECT_EQ(drift.subject, Subject::drift);
  EXPECT_EQ(drift.verdict, Verdict::worse) << drift.reason;
  EXPECT_NEAR(drift.base->median, 1.05, 0.01);
  EXPECT_NEAR(drift.next->median, 1.3, 0.01);
  // Towards the prediction from above is better although it is a change as large.
  const Comparison back = compare(find_side(file("next"), path), find_side(file("base"), path), {});
  EXPECT_EQ(of(back, drift.metric.name).verdict, Verdict::better);
}

TEST_F(CompareTest, ABytesGrowthNamesTheCollectiveAndItsPlace) {
  Store base(file("base")), next(file("next"));
  for (Store* store : {&base, &next}) {
    const bool grown = store == &next;
    const RunId run = store->start_run(header_of("vit"));
    store->append(run, {.metrics = {{bytes_sent(), {{.rank = 0, .value = grown ? 192. : 128.}}}}});
    Timeline timeline;
    timeline.scopes = {{.ordinal = 0, .name = "backward"},
                       {.ordinal = 1, .parent = 0, .name = "blocks.0"}};
    timeline.steps = {
        {.ordinal = 0,
         .scope = 1,
         .op = "all_reduce",
         .lane = "comm:domain",
         .bytes = grown ? 128 : 64},
        {.ordinal = 1, .scope = 1, .op = "all_gather", .lane = "comm:domain", .bytes = 64},
        {.ordinal = 2, .scope = 1, .op = "linear", .lane = "compute", .bytes = grown ? 9000 : 10}};
    store->append(run, timeline);
    store->finish_run(run, RunStatus::complete);
  }
  const Finding bytes = of(compare_files(), "bytes_sent");
  EXPECT_EQ(bytes.causes,
            std::vector<std::string>{"all_reduce over domain in backward/blocks.0 "
                                     "sends 64 B more (64 -> 128, all ranks together)"});
}

}  // namespace
}  // namespace shardlab::results
