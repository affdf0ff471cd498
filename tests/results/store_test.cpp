#include "results/store.h"

#include <cmath>
#include <limits>

#include "results/query.h"
#include "tests/results/fixture.h"

namespace shardlab::results {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

class StoreTest : public StorageTest {
 protected:
  StoredRun read(RunId run) { return read_run(open_for_reading(path), run); }

  Error append_error(Store& store, RunId run, const Rows& rows) {
    return error_of([&] { store.append(run, rows); });
  }
};

TEST_F(StoreTest, EveryFieldOfAHeaderComesBack) {
  RunHeader header = header_of("vit", "data=2,domain=3");
  header.series.parameters = R"({"heads":6,"patch":16})";
  header.series.dtype = "float64";
  header.series.train = true;
  header.series.execution = Execution::predict;
  header.series.machine = "dgx-h100:8";
  header.series.profile = "pytorch-shardtensor";
  header.environment = {"CPU", "AVX2", "Release", "GNU", {{"onednn", "2.6"}}, "one socket"};
  header.created = "2031-02-03T04:05:06.789012Z";
  header.commit = "0123456789abcdef";
  header.branch = "main";
  header.dirty = true;
  header.oversubscribed = true;
  header.seed = -5;
  header.source = "a page";
  header.command = "shardlab run vit --ranks 6";
  header.variables = R"({"OMP_NUM_THREADS":"2"})";
  header.state = R"({"load":0.5})";
  header.layouts = "tokens: Shard(domain)";
  Store store(path);
  const RunId run = store.start_run(header);
  const StoredRun stored = read(run);
  EXPECT_EQ(stored.id, run);
  EXPECT_EQ(stored.uuid.size(), 36U);
  EXPECT_EQ(stored.status, RunStatus::running);
  const RunHeader& h = stored.header;
  EXPECT_EQ(h.series, header.series);
  EXPECT_EQ(h.environment, header.environment);
  EXPECT_EQ(h.created, header.created);
  EXPECT_EQ(h.commit, header.commit);
  EXPECT_EQ(h.branch, header.branch);
  EXPECT_EQ(h.dirty, header.dirty);
  EXPECT_EQ(h.oversubscribed, header.oversubscribed);
  EXPECT_EQ(h.seed, header.seed);
  EXPECT_EQ(h.source, header.source);
  EXPECT_EQ(h.command, header.command);
  EXPECT_EQ(h.variables, header.variables);
  EXPECT_EQ(h.state, header.state);
  EXPECT_EQ(h.layouts, header.layouts);
}

TEST_F(StoreTest, EverySampleOfEveryRankComesBackBitForBit) {
  Store store(path);
  const RunId run = store.start_run(header_of("vit"));
  MetricSamples times = samples_of(step_seconds(), 3, 2, 0.1);
  times.samples[0].warmup = true;
  times.samples[1].value = 4.9e-324;
  times.samples[2].value = -0.0;
  MetricSamples losses{loss(), {{.iteration = 0, .rank = whole_mesh, .value = 6.9}}};
  MetricSamples bytes{bytes_sent(), {{.iteration = 0, .rank = 1, .value = 9007199254740992.0}}};
  store.append(run, {.metrics = {times, losses, bytes}});
  const auto metrics = read(run).rows.metrics;
  ASSERT_EQ(metrics.size(), 3U);
  EXPECT_EQ(metrics[0].metric, step_seconds());
  EXPECT_EQ(metrics[0].samples, times.samples);
  EXPECT_EQ(metrics[1].metric, loss());
  EXPECT_EQ(metrics[1].samples, losses.samples);
  EXPECT_EQ(metrics[2].metric, bytes_sent());
  EXPECT_EQ(metrics[2].samples, bytes.samples);
}

TEST_F(StoreTest, ChecksUncertaintiesAndFoldsComeBack) {
  Store store(path);
  const RunId run = store.start_run(header_of("vit", "domain=8"));
  store.append(
      run, {.checks = {{"a", 1e-7, 1e-5}, {"b", 0, 0}, {"c", not_a_number, 1}, {"d", infinite, 1}},
            .uncertainties = {{step_seconds(), 0.9, 1.2, 0.8, "vendor sheet"}},
            .folds = {{0, 7, "0-6"}, {7, 1, "7"}}});
  const Rows rows = read(run).rows;
  ASSERT_EQ(rows.checks.size(), 4U);
  EXPECT_EQ(rows.checks[0].name, "a");
  EXPECT_EQ(rows.checks[0].error, 1e-7);
  EXPECT_EQ(rows.checks[0].bound, 1e-5);
  EXPECT_TRUE(rows.checks[0].passed());
  EXPECT_TRUE(rows.checks[1].passed());
  EXPECT_TRUE(std::isnan(rows.checks[2].error));
  EXPECT_FALSE(rows.checks[2].passed());
  EXPECT_EQ(rows.checks[3].error, infinite);
  EXPECT_FALSE(rows.checks[3].passed());
  ASSERT_EQ(rows.uncertainties.size(), 1U);
  EXPECT_EQ(rows.uncertainties[0].metric, step_seconds());
  EXPECT_EQ(rows.uncertainties[0].low, 0.9);
  EXPECT_EQ(rows.uncertainties[0].high, 1.2);
  EXPECT_EQ(rows.uncertainties[0].coverage, 0.8);
  EXPECT_EQ(rows.uncertainties[0].source, "vendor sheet");
  ASSERT_EQ(rows.folds.size(), 2U);
  EXPECT_EQ(rows.folds[0].ranks, 7);
  EXPECT_EQ(rows.folds[0].members, "0-6");
  EXPECT_EQ(rows.folds[1].rank, 7);
}

TEST_F(StoreTest, ATimelineComesBackInOrderWholeOrOfOneRank) {
  Store store(path);
  const RunId run = store.start_run(header_of("vit"));
  const Step late{.rank = 1,
                  .iteration = 2,
                  .ordinal = 1,
                  .scope = 4,
                  .op = "all_reduce",
                  .lane = "comm:domain",
                  .begin_seconds = 0.5,
                  .end_seconds = 0.75,
                  .flop = 11,
                  .bytes = 12,
                  .live_bytes = 13,
                  .detail = "to 0"};
  const Step early{.rank = 0, .iteration = 2, .ordinal = 0, .op = "matmul", .lane = "compute"};
  store.append(run, Timeline{.scopes = {{.rank = 1,
                                         .iteration = 2,
                                         .ordinal = 4,
                                         .parent = 3,
                                         .name = "block 1",
                                         .begin_seconds = 0.25,
                                         .end_seconds = 1},
                                        {.rank = 1, .iteration = 2, .ordinal = 3, .name = "step"}},
                             .steps = {late, early}});
  const Reader reader = open_for_reading(path);
  const Timeline all = read_timeline(reader, run);
  ASSERT_EQ(all.steps.size(), 2U);
  EXPECT_EQ(all.steps[0].op, "matmul");
  EXPECT_FALSE(all.steps[0].scope);
  const Step& step = all.steps[1];
  EXPECT_EQ(step.rank, 1);
  EXPECT_EQ(step.iteration, 2);
  EXPECT_EQ(step.ordinal, 1);
  EXPECT_EQ(step.scope, 4);
  EXPECT_EQ(step.op, "all_reduce");
  EXPECT_EQ(step.lane, "comm:domain");
  EXPECT_EQ(step.begin_seconds, 0.5);
  EXPECT_EQ(step.end_seconds, 0.75);
  EXPECT_EQ(step.flop, 11);
  EXPECT_EQ(step.bytes, 12);
  EXPECT_EQ(step.live_bytes, 13);
  EXPECT_EQ(step.detail, "to 0");
  ASSERT_EQ(all.scopes.size(), 2U);
  EXPECT_EQ(all.scopes[0].name, "step");
  EXPECT_FALSE(all.scopes[0].parent);
  EXPECT_EQ(all.scopes[1].parent, 3);
  EXPECT_EQ(all.scopes[1].begin_seconds, 0.25);
  EXPECT_EQ(all.scopes[1].end_seconds, 1);
  EXPECT_EQ(read_timeline(reader, run, 0).steps.size(), 1U);
  EXPECT_EQ(read_timeline(reader, run, 0).scopes.size(), 0U);
  EXPECT_EQ(read_timeline(reader, run, 1).steps.at(0).op, "all_reduce");
}

TEST_F(StoreTest, AnyTextComesBackUnchanged) {
  using namespace std::string_literals;
  Store store(path);
  for (const std::string& text : {"it's \"quoted\""s, "'; DROP TABLE run; --"s,
                                  "two\nlines\r\n\ttab"s, "\xc3\xa9\xe6\xb5\x8b\xf0\x9f\x98\x80"s,
                                  "<script>|</script>"s, "a\0b"s, "\xff\xfe"s, "%s{}%n"s}) {
    RunHeader header = header_of(text);
    header.command = text;
    header.branch = text;
    header.environment.processor = "CPU";
    const RunId run = store.start_run(header);
    store.append(run, {.metrics = {{{.name = text, .unit = text}, {{.value = 1}}}},
                       .checks = {{text, 0, 0}}});
    store.append(run, Timeline{.steps = {{.op = text, .lane = text}}});
    store.finish_run(run, RunStatus::failed, text);
    const StoredRun stored = read(run);
    EXPECT_EQ(stored.header.series.scenario, text);
    EXPECT_EQ(stored.header.command, text);
    EXPECT_EQ(stored.header.branch, text);
    EXPECT_EQ(stored.reason, text);
    EXPECT_EQ(stored.rows.metrics.at(0).metric.name, text);
    EXPECT_EQ(stored.rows.metrics.at(0).metric.unit, text);
    EXPECT_EQ(stored.rows.checks.at(0).name, text);
    const Reader reader = open_for_reading(path);
    EXPECT_EQ(read_timeline(reader, run).steps.at(0).op, text);
    EXPECT_EQ(list_runs(reader, {.scenario = text}).size(), 1U);
  }
}

TEST_F(StoreTest, EqualSeriesAndEnvironmentsAreStoredOnce) {
  Store store(path);
  RunHeader header = header_of("vit");
  header.series.parameters = R"({"a":1,"b":2})";
  store.start_run(header);
  header.series.parameters = R"({"b": 2, "a": 1})";
  store.start_run(header);
  header.environment.compiler = "other";
  store.start_run(header);
  Database database(path, Database::Mode::read, 1);
  EXPECT_EQ(database.integer("SELECT count(*) FROM series"), 1);
  EXPECT_EQ(database.integer("SELECT count(*) FROM environment"), 2);
  EXPECT_EQ(database.integer("SELECT count(DISTINCT uuid) FROM run"), 3);
}

TEST_F(StoreTest, SeriesThatDifferInOneFieldAreStoredApart) {
  RunHeader base = header_of("vit");
  base.series.execution = Execution::published;
  std::vector<RunHeader> headers(9, base);
  headers[1].series.scenario = "ring";
  headers[2].series.parameters = R"({"heads":8})";
  headers[3].series.dtype = "float64";
  headers[4].series.train = true;
  headers[5].series.mesh = "data=2";
  headers[6].series.execution = Execution::cpu;
  headers[7].series.machine = "dgx-h100";
  headers[8].series.profile = "pytorch";
  Store store(path);
  for (int pass = 0; pass < 2; ++pass)
    for (const RunHeader& header : headers)
      EXPECT_EQ(read(store.start_run(header)).header.series, header.series);
}

TEST_F(StoreTest, ASampleThatIsNotFiniteFailsTheRunAndKeepsAllOtherRows) {
  for (const double bad : {not_a_number, infinite, -infinite}) {
    Store store(path);
    const RunId run = store.start_run(header_of("vit"));
    MetricSamples times = samples_of(step_seconds(), 4, 2);
    times.samples[5].value = bad;  // iteration 2, rank 1
    MetricSamples losses{loss(), {{.iteration = 0, .value = bad}, {.iteration = 1, .value = 5}}};
    const Error error =
        append_error(store, run, {.metrics = {times, losses}, .checks = {{"output", 0, 1}}});
    EXPECT_EQ(error.fault(), Fault::invalid);
    EXPECT_TRUE(contains(error.what(), "metric step_seconds, rank 1, iteration 2: "))
        << error.what();
    EXPECT_TRUE(contains(error.what(), "is not a finite number (and 1 more)")) << error.what();
    EXPECT_EQ(store.finish_run(run, RunStatus::complete), RunStatus::failed);
    const StoredRun stored = read(run);
    EXPECT_EQ(stored.status, RunStatus::failed);
    EXPECT_EQ(stored.reason, error.what());
    EXPECT_EQ(stored.rows.metrics.at(0).samples.size(), 7U);
    EXPECT_EQ(stored.rows.metrics.at(1).samples.size(), 1U);
    EXPECT_EQ(stored.rows.checks.size(), 1U);
  }
}

TEST_F(StoreTest, TheFirstFaultOfARunStaysItsReason) {
  Store store(path);
  const RunId run = store.start_run(header_of("vit"));
  const auto bad_at = [](std::int64_t iteration) {
    return Rows{.metrics = {{loss(), {{.iteration = iteration, .value = not_a_number}}}}};
  };
  append_error(store, run, bad_at(3));
  append_error(store, run, bad_at(4));
  store.append(run, {.metrics = {{loss(), {{.iteration = 5, .value = 1}}}}});
  EXPECT_EQ(store.finish_run(run, RunStatus::skipped, "later"), RunStatus::failed);
  EXPECT_TRUE(contains(read(run).reason, "metric loss, the whole mesh, iteration 3: nan"));
  EXPECT_EQ(read(run).rows.metrics.at(0).samples.size(), 1U);
}

TEST_F(StoreTest, RowsThatCannotBeStoredLeaveNothingBehind) {
  Store store(path);
  const RunId run = store.start_run(header_of("vit"));
  store.append(run, {.metrics = {samples_of(step_seconds(), 1, 1)},
                     .checks = {{"output", 0, 1}},
                     .uncertainties = {{loss(), 0, 1, 0.5, ""}},
                     .folds = {{0, 2, "0-1"}}});
  const Metric other{.name = "step_seconds", .unit = "ms"};
  struct Case {
    Rows rows;
    std::string text;
  };
  const std::vector<Case> cases = {
      {{.metrics = {samples_of(bytes_sent(), 1, 1), samples_of(step_seconds(), 2, 1)}},
       "metric step_seconds, rank 0, iteration 0 of run 1 is there already"},
      {{.metrics = {samples_of(bytes_sent(), 1, 1), {bytes_sent(), {{.rank = 2}}}}},
       "metric bytes_sent: rank 2 of a mesh of 2"},
      {{.metrics = {{bytes_sent(), {{.rank = -2}}}}}, "rank -2 of a mesh of 2"},
      {{.metrics = {{bytes_sent(), {{.iteration = -1}}}}}, "iteration -1 is negative"},
      {{.metrics = {samples_of(other, 1, 1)}},
       "metric step_seconds: stored as (unit s, not exact, better lower, max across ranks), given "
       "as (unit ms,"},
      {{.metrics = {samples_of({}, 1, 1)}}, "a metric has no name"},
      {{.metrics = {samples_of(flop(), 1, 1)}, .checks = {{"output", 0, 1}}},
       "check of output in run 1 is there already"},
      {{.checks = {{"x", 0, not_a_number}}}, "check of x: its bound is not a number"},
      {{.uncertainties = {{loss(), 0, 1, 0.5, ""}}}, "uncertainty of loss in run 1 is there"},
      {{.uncertainties = {{flop(), 2, 1, 0.5, ""}}}, "uncertainty of flop: from 2 to 1"},
      {{.uncertainties = {{flop(), not_a_number, 1, 0.5, ""}}}, "uncertainty of flop: from nan"},
      {{.uncertainties = {{flop(), 1, 2, 1.5, ""}}}, "with coverage 1.5"},
      {{.folds = {{0, 1, ""}}}, "fold of rank 0 in run 1 is there already"},
      {{.folds = {{1, 3, ""}}}, "fold of rank 1 for 3 ranks in a mesh of 2"},
  };
  const auto metrics_before = metrics_of(open_for_reading(path), run).size();
  for (const Case& c : cases) {
    const Error error = append_error(store, run, c.rows);
    EXPECT_EQ(error.fault(), Fault::invalid) << error.what();
    EXPECT_TRUE(contains(error.what(), c.text)) << error.what();
    EXPECT_EQ(metrics_of(open_for_reading(path), run).size(), metrics_before);
  }
  EXPECT_EQ(store.finish_run(run, RunStatus::complete), RunStatus::complete);
}

TEST_F(StoreTest, ATimelineThatCannotBeTrueIsRefusedWhole) {
  Store store(path);
  const RunId run = store.start_run(header_of("vit"));
  const std::vector<Timeline> bad = {
      {.steps = {{.op = "x", .begin_seconds = 2, .end_seconds = 1}}},
      {.steps = {{.op = "x", .begin_seconds = 0, .end_seconds = not_a_number}}},
      {.steps = {{.op = "x", .end_seconds = infinite}}},
      {.steps = {{.rank = 2, .op = "x"}}},
      {.steps = {{.rank = -1, .op = "x"}}},
      {.steps = {{.op = "x", .flop = -1}}},
      {.steps = {{.op = "x"}, {.op = "y"}}},
      {.scopes = {{.ordinal = 1, .parent = 1, .name = "x"}}},
      {.scopes = {{.ordinal = 1, .parent = -1, .name = "x"}}},
      {.scopes = {{.name = "x"}, {.name = "y"}}},
      {.scopes = {{.name = "x"}}, .steps = {{.ordinal = -1, .op = "y"}}},
  };
  for (const Timeline& timeline : bad) {
    const Error error = error_of([&] { store.append(run, timeline); });
    EXPECT_EQ(error.fault(), Fault::invalid) << error.what();
    const Timeline stored = read_timeline(open_for_reading(path), run);
    EXPECT_TRUE(stored.steps.empty() && stored.scopes.empty()) << error.what();
  }
}

TEST_F(StoreTest, AHeaderThatIsMalformedStoresNoRun) {
  Store store(path);
  std::vector<RunHeader> bad(6, header_of("vit"));
  bad[0].series.mesh = "domain";
  bad[1].variables = "{";
  bad[2].state = "[]";
  bad[3].created = "yesterday";
  bad[4].created = "2031-02-03T04:05:06Z";
  bad[5].series.scenario = "";
  for (const RunHeader& header : bad)
    EXPECT_EQ(error_of([&] { store.start_run(header); }).fault(), Fault::invalid);
  EXPECT_TRUE(list_runs(open_for_reading(path)).empty());
}

TEST_F(StoreTest, ARunEndsOnceAndWithAReasonWhereItNeedsOne) {
  Store store(path);
  const RunId run = store.start_run(header_of("vit"));
  const auto fault_of = [&](RunId id, RunStatus status, const char* reason) {
    return error_of([&] { store.finish_run(id, status, reason); }).fault();
  };
  EXPECT_EQ(fault_of(run, RunStatus::running, ""), Fault::invalid);
  EXPECT_EQ(fault_of(run, RunStatus::interrupted, "x"), Fault::invalid);
  EXPECT_EQ(fault_of(run, RunStatus::failed, ""), Fault::invalid);
  EXPECT_EQ(fault_of(run, RunStatus::skipped, ""), Fault::invalid);
  EXPECT_EQ(fault_of({99}, RunStatus::complete, ""), Fault::invalid);
  EXPECT_EQ(read(run).status, RunStatus::running);
  EXPECT_EQ(store.finish_run(run, RunStatus::skipped, "no kernel"), RunStatus::skipped);
  EXPECT_EQ(read(run).status, RunStatus::skipped);
  EXPECT_EQ(read(run).reason, "no kernel");
  EXPECT_EQ(fault_of(run, RunStatus::complete, ""), Fault::invalid);
  EXPECT_TRUE(contains(append_error(store, {99}, {}).what(), "no run 99"));
}

TEST_F(StoreTest, RunsThatStartLaterHaveLaterTimes) {
  Store store(path);
  const RunId a = store.start_run(header_of("vit")), b = store.start_run(header_of("vit"));
  EXPECT_EQ(read(a).header.created.size(), 27U);
  EXPECT_LT(read(a).header.created, read(b).header.created);
}

TEST_F(StoreTest, TheStateOfARunIsKnownWhenItHasBeenMeasured) {
  RunHeader header;
  header.series.scenario = "vit";
  header.state = R"({"load":1})";
  {
    Store store(path);
    const RunId run = store.start_run(header);
    store.set_state(run, R"({ "doubts": ["heat"], "blocks": [] })");
    EXPECT_EQ(error_of([&] { store.set_state(run, "[]"); }).fault(), Fault::invalid);
    EXPECT_EQ(error_of([&] { store.set_state(RunId{77}, "{}"); }).fault(), Fault::invalid);
  }
  EXPECT_EQ(state_of(open_for_reading(path), RunId{1}), R"({"blocks":[],"doubts":["heat"]})");
}

}  // namespace
}  // namespace shardlab::results
