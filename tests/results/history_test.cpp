#include "results/history.h"

#include <fmt/format.h>

#include "results/scaling.h"
#include "tests/results/fixture.h"

namespace shardlab::results {
namespace {

class HistoryTest : public StorageTest {
 protected:
  HistoryTest() : store(path) {}

  /// A run of one commit on 2 ranks, later than all before.
  RunId add(const std::string& commit, double value, const Metric& metric = step_seconds(),
            const std::function<void(RunHeader&)>& change = {}) {
    RunHeader header = header_of("vit");
    header.commit = commit;
    header.created = fmt::format("2031-01-01T00:00:00.{:06}Z", ++runs_);
    if (change) change(header);
    const RunId run = store.start_run(header);
    MetricSamples samples{metric, {}};
    for (std::int64_t i = 0; i < 3; ++i)
      samples.samples.push_back({.iteration = i, .value = value});
    store.append(run, {.metrics = {samples}});
    store.finish_run(run, RunStatus::complete);
    return run;
  }

  std::vector<HistoryChart> charts(HistoryQuestion question = {}) {
    if (question.metric.empty()) question.metric = "step_seconds";
    return read_history(open_for_reading(path), question);
  }
  HistoryChart chart(const HistoryQuestion& question = {}) {
    const auto all = charts(question);
    EXPECT_EQ(all.size(), 1U);
    return all.at(0);
  }
  static std::vector<std::string> commits(const HistoryChart& chart) {
    std::vector<std::string> all;
    for (const HistoryPoint& point : chart.points) all.push_back(point.commit);
    return all;
  }

  Store store;

 private:
  int runs_ = 0;
};

TEST_F(HistoryTest, AnOpenRegressionHasSizeIntervalAndTheCommitsToLookAt) {
  const double times[] = {10, 10.1, 9.9, 10, 12, 12.1, 11.9, 12};
  for (int i = 0; i < 8; ++i) add("c" + std::to_string(i), times[i]);
  const HistoryChart found = chart();
  EXPECT_EQ(found.verdict, Verdict::worse);
  ASSERT_EQ(found.shifts.size(), 1U);
  const Shift& shift = found.shifts[0];
  EXPECT_EQ(found.points[shift.at.index - 1].commit, "c3");
  EXPECT_EQ(found.points[shift.at.index].commit, "c4");
  EXPECT_EQ(shift.state, ShiftState::open);
  EXPECT_DOUBLE_EQ(shift.before, 10);
  EXPECT_DOUBLE_EQ(shift.after, 12);
  EXPECT_DOUBLE_EQ(shift.ratio.value(), 1.2);
  EXPECT_GT(shift.interval.value().low, 1.17);
  EXPECT_LT(shift.interval.value().high, 1.23);
}

TEST_F(HistoryTest, RunsOfOneCommitAreOnePointAndTheirMedianItsValue) {
  add("a", 10);
  add("b", 13);
  add("a", 11);
  add("a", 15);
  add("b", 13, step_seconds(), [](RunHeader& header) { header.dirty = true; });
  const HistoryChart found = chart();
  EXPECT_EQ(commits(found), (std::vector<std::string>{"a", "b", "b+"}));
  EXPECT_EQ(found.points[0].value, 11);
  EXPECT_EQ(found.points[0].samples, 9);
  EXPECT_EQ(found.points[0].runs.size(), 3U);
  EXPECT_EQ(found.verdict, Verdict::not_enough);
}

TEST_F(HistoryTest, ACommitThatWasMeasuredLateStandsWhereGitHasIt) {
  for (const char* commit : {"a1", "c3", "d4", "b2"}) add(commit, 10);
  EXPECT_EQ(commits(chart()), (std::vector<std::string>{"a1", "c3", "d4", "b2"}));
  EXPECT_EQ(commits(chart({.order = {"a111", "b222", "c333", "d444"}})),
            (std::vector<std::string>{"a1", "b2", "c3", "d4"}));
  const HistoryChart unknown = chart({.order = {"a111", "b222", "c333"}});
  EXPECT_EQ(commits(unknown), (std::vector<std::string>{"a1", "c3", "d4", "b2"}));
  ASSERT_EQ(unknown.notes.size(), 1U);
}

TEST_F(HistoryTest, AnotherMachineIsAnotherChartForTimesAndNoneForBytes) {
  const std::function<void(RunHeader&)> other = [](RunHeader& header) {
    header.environment.processor = "other CPU";
  };
  for (int i = 0; i < 4; ++i) {
    add("c" + std::to_string(i), 10);
    add("c" + std::to_string(i), 20, step_seconds(), other);
    add("c" + std::to_string(i), 64, bytes_sent(),
        i % 2 == 0 ? other : std::function<void(RunHeader&)>());
  }
  const auto times = charts();
  ASSERT_EQ(times.size(), 2U);
  EXPECT_NE(times[0].environment, times[1].environment);
  EXPECT_TRUE(times[0].shifts.empty() && times[1].shifts.empty());
  EXPECT_EQ(chart({.metric = "bytes_sent"}).points.size(), 4U);
}

TEST_F(HistoryTest, OfAnExactMetricEveryChangeCounts) {
  for (const double bytes : {64.0, 64.0, 128.0})
    add("c" + std::to_string(bytes), bytes, bytes_sent());
  add("last", 128.0, bytes_sent());
  const HistoryChart found = chart({.metric = "bytes_sent"});
  ASSERT_EQ(found.shifts.size(), 1U);
  EXPECT_EQ(found.shifts[0].at.index, 1U) << "the first two are one commit";
  EXPECT_EQ(found.shifts[0].ratio, 2);
  EXPECT_EQ(found.verdict, Verdict::worse);
}

TEST_F(HistoryTest, AnAcceptedShiftIsShownAndNoLongerOpen) {
  for (int i = 0; i < 8; ++i) add("c" + std::to_string(i), i < 4 ? 10 : 12);
  Mark mark{.series = chart().series, .metric = "step_seconds", .commit = "c4", .note = "float64"};
  store.accept({mark});
  const HistoryChart accepted = chart();
  EXPECT_EQ(accepted.verdict, Verdict::same);
  EXPECT_EQ(accepted.shifts.at(0).state, ShiftState::accepted);
  EXPECT_EQ(accepted.shifts[0].note, "float64");
  store.reopen({mark});
  EXPECT_EQ(chart().verdict, Verdict::worse);
  mark.commit = "c1";
  store.accept({mark});
  EXPECT_EQ(chart().verdict, Verdict::worse) << "a mark elsewhere accepts nothing";
}

TEST_F(HistoryTest, RunsThatCannotCountAreLeftOutAndSaid) {
  for (int i = 0; i < 4; ++i) add("c" + std::to_string(i), 10);
  add("busy", 99, step_seconds(), [](RunHeader& header) { header.oversubscribed = true; });
  store.finish_run(store.start_run(header_of("vit")), RunStatus::failed, "broken");
  const HistoryChart found = chart();
  EXPECT_EQ(found.points.size(), 4U);
  ASSERT_EQ(found.notes.size(), 1U);
  EXPECT_TRUE(contains(found.notes[0], "1 runs had more ranks than cores"));
}

TEST_F(HistoryTest, FieldsChooseSeriesAndUnknownWordsNameTheNearest) {
  add("a", 1);
  add("a", 1, step_seconds(), [](RunHeader& header) { header.series.mesh = "domain=4"; });
  EXPECT_EQ(charts().size(), 2U);
  EXPECT_EQ(chart({.where = {{"mesh", "domain=4"}}}).series.mesh, "domain=4");
  const auto says = [&](const HistoryQuestion& question, const char* text) {
    const Error error = error_of([&] { static_cast<void>(charts(question)); });
    EXPECT_EQ(error.fault(), Fault::invalid);
    EXPECT_TRUE(contains(error.what(), text)) << error.what();
  };
  says({.where = {{"scenario", "vti"}}}, "did you mean 'vit'?");
  says({.where = {{"messh", "domain=4"}}}, "did you mean 'mesh'?");
  says({.metric = "step_second_"}, "did you mean 'step_seconds'?");
}

TEST_F(HistoryTest, AMetricHasShortNames) {
  add("a", 1);
  add("a", 1, peak_bytes());
  add("a", 1, peak_bytes("activation"));
  const Reader reader = open_for_reading(path);
  EXPECT_EQ(find_metric(reader, "step").name, "step_seconds");
  EXPECT_EQ(find_metric(reader, "peak").name, "peak_bytes");
  EXPECT_EQ(find_metric(reader, "peak_bytes.a").name, "peak_bytes.activation");
  EXPECT_EQ(find_metric(reader, "ste").name, "step_seconds");
}

// The states that a line of levels leads to, four commits each.
std::vector<ShiftState> states(const std::vector<double>& levels, Metric metric = step_seconds(),
                               const std::vector<std::string>& accepted = {}) {
  HistoryChart chart{.metric = std::move(metric)};
  for (std::size_t i = 0; i < 4 * levels.size(); ++i)
    chart.points.push_back({.commit = "c" + std::to_string(i), .value = levels[i / 4]});
  std::vector<Mark> marks;
  for (const std::string& commit : accepted)
    marks.push_back({.series = chart.series, .metric = chart.metric.name, .commit = commit});
  find_shifts(chart, marks, 0.02);
  std::vector<ShiftState> all;
  for (const Shift& shift : chart.shifts) all.push_back(shift.state);
  const bool is_open = std::ranges::count(all, ShiftState::open) > 0;
  EXPECT_EQ(chart.verdict == Verdict::worse, is_open);
  return all;
}

TEST(HistoryShifts, ARegressionThatWasTakenBackIsUndone) {
  using enum ShiftState;
  using All = std::vector<ShiftState>;
  EXPECT_EQ(states({10, 12}), (All{open}));
  EXPECT_EQ(states({10, 12, 10}), (All{undone, better}));
  EXPECT_EQ(states({10, 12, 11}), (All{open, better})) << "half of it is still there";
  EXPECT_EQ(states({10, 8, 9}), (All{better, open})) << "what was reached once is the reference";
  EXPECT_EQ(states({10, 12, 10, 12}), (All{undone, better, open}));
}

TEST(HistoryShifts, SmallOnesAddUp) {
  using enum ShiftState;
  using All = std::vector<ShiftState>;
  EXPECT_EQ(states({10, 10.15}), (All{small}));
  EXPECT_EQ(states({10, 10.15, 10}), (All{small, small}));
  EXPECT_EQ(states({10, 10.1, 10.35}), (All{small, open}));
}

TEST(HistoryShifts, AMarkAcceptsOneShiftOnly) {
  using enum ShiftState;
  using All = std::vector<ShiftState>;
  EXPECT_EQ(states({10, 12, 14}, step_seconds(), {"c4"}), (All{accepted, open}));
  EXPECT_EQ(states({10, 12, 14}, step_seconds(), {"c8"}), (All{open, accepted}));
  EXPECT_EQ(states({10, 12, 14}, step_seconds(), {"c4", "c8"}), (All{accepted, accepted}));
  EXPECT_EQ(states({10, 12, 10, 12}, step_seconds(), {"c4"}), (All{accepted, better, open}));
}

TEST(HistoryShifts, TheDirectionIsThatOfTheMetric) {
  using enum ShiftState;
  using All = std::vector<ShiftState>;
  Metric metric{.name = "speed", .unit = "flop/s", .better = Better::higher};
  EXPECT_EQ(states({10, 12, 10}, metric), (All{better, open}));
  metric.better = Better::none;
  EXPECT_EQ(states({10, 12, 10}, metric), (All{changed, changed}));
  metric = {.name = "count", .unit = "1", .exact = true};
  EXPECT_EQ(states({10, 10.0001}, metric), (All{open}));
  EXPECT_EQ(states({0, 64}, metric), (All{open}));
}

}  // namespace
}  // namespace shardlab::results
