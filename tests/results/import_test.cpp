#include "results/import.h"

#include <optional>

#include "results/export.h"
#include "results/scaling.h"
#include "tests/results/commas.h"
#include "tests/results/fixture.h"
#include "tests/results/import_texts.h"

namespace shardlab::results {
namespace {

ImportSource source_of(const std::string& text, const std::string& name = "file.json") {
  return {name, text, [](const std::string&, std::size_t) { return std::nullopt; }};
}

Imported read_text(const std::string& text, const std::string& name = "file.json",
                   const ImportOptions& options = {}) {
  auto read = read_import(source_of(text, name), options);
  EXPECT_TRUE(read.has_value()) << text;
  return read ? std::move(*read) : Imported{};
}

std::vector<double> values_of(const StoredRun& run, const std::string& metric) {
  std::vector<double> values;
  for (const MetricSamples& each : run.rows.metrics)
    if (each.metric.name == metric)
      for (const Sample& sample : each.samples) values.push_back(sample.value);
  return values;
}

bool notes_say(const Imported& imported, int line, const std::string& part) {
  return std::ranges::any_of(imported.notes, [&](const ImportNote& note) {
    return note.line == line && contains(note.text, part);
  });
}

TEST(Import, RepetitionsOfGoogleBenchmarkBecomeIterationsInSeconds) {
  const Imported read = read_text(google_benchmark_text);
  ASSERT_EQ(read.runs.size(), 3U);
  const StoredRun& run = read.runs[0];
  EXPECT_EQ(run.header.series.scenario, "copy<float, 2>");
  EXPECT_EQ(run.header.series.parameters, R"({"arg0":"1024","time":"real"})");
  EXPECT_EQ(run.header.series.mesh, "domain=2");
  EXPECT_EQ(run.header.created, "2026-11-30T01:04:39.000000Z") << "02:04:39+01:00";
  EXPECT_EQ(values_of(run, "step_seconds"), (std::vector<double>{1.5e-3, 2.5e-3}));
  EXPECT_EQ(values_of(run, "cpu_seconds"), (std::vector<double>{1e-3, 2e-3}));
  EXPECT_EQ(values_of(run, "bytes_per_second"), (std::vector<double>{64, 32}));
  EXPECT_EQ(values_of(run, "counter.hits"), (std::vector<double>{7}));
  EXPECT_TRUE(notes_say(read, 7, "1 value is NaN")) << read.notes.at(0).text;
  EXPECT_TRUE(notes_say(read, 0, "3 aggregate rows left out"));
}

TEST(Import, ErrorsOfGoogleBenchmarkAreSkippedRunsWithTheirReason) {
  const Imported read = read_text(google_benchmark_text);
  EXPECT_EQ(read.runs.at(2).status, RunStatus::skipped);
  EXPECT_EQ(read.runs.at(2).reason, "no device \"x\"");
}

TEST(Import, ABenchmarkOfWhichOnlyAggregatesAreThereGivesItsMedian) {
  const Imported read = read_text(google_benchmark_text);
  EXPECT_EQ(read.runs.at(1).header.series.scenario, "only");
  EXPECT_EQ(values_of(read.runs.at(1), "step_seconds"), (std::vector<double>{3e-9}));
  EXPECT_TRUE(notes_say(read, 13, "only aggregates are there"));
}

TEST(Import, NumbersOfALocaleWithDecimalCommasAreRead) {
  const Imported read = read_text(german_benchmark_text);
  ASSERT_EQ(read.runs.size(), 1U);
  EXPECT_EQ(values_of(read.runs[0], "step_seconds"), (std::vector<double>{1.25e-6}));
  EXPECT_EQ(values_of(read.runs[0], "counter.items"), (std::vector<double>{1234567}));
  EXPECT_TRUE(notes_say(read, 2, "decimal mark ','"));
}

TEST(Import, NumbersInGroupsOfALocaleWithDecimalPointsAreRead) {
  const Imported read = read_text(R"({"context": {}, "benchmarks": [
{"name": "a", "run_name": "a", "run_type": "iteration",
"items": 1,234,567,
"real_time": 2.5e+00, "time_unit": "us"}]})");
  EXPECT_EQ(values_of(read.runs.at(0), "counter.items"), (std::vector<double>{1234567}));
  EXPECT_EQ(values_of(read.runs.at(0), "step_seconds"), (std::vector<double>{2.5e-6}));
}

TEST(Import, NegativeTimesAndMissingOnesEndTheirRunAsFailed) {
  const Imported read = read_text(R"({"context": {}, "benchmarks": [
{"name": "a", "run_name": "a", "run_type": "iteration", "real_time": -2, "time_unit": "s"},
{"name": "b", "run_name": "b", "run_type": "iteration", "real_time": NaN, "time_unit": "s"}]})");
  EXPECT_EQ(read.runs.at(0).status, RunStatus::failed);
  EXPECT_EQ(read.runs.at(0).reason, "step_seconds of iteration 0: -2 s cannot be");
  EXPECT_EQ(read.runs.at(1).status, RunStatus::failed);
}

TEST(Import, StatesOfNvbenchTakeTheirSamplesFromTheFileBesideThem) {
  ImportSource source = source_of(nvbench_text);
  // 0.5 and 0.25 as little-endian floats: 3f000000, 3e800000.
  source.beside = [](const std::string& path, std::size_t bytes) -> std::optional<std::string> {
    EXPECT_EQ(path, "result.json-bin/0.bin");
    EXPECT_EQ(bytes, 8U);
    return std::string("\0\0\0\x3f\0\0\x80\x3e", 8);
  };
  const auto read = read_import(source, {});
  ASSERT_TRUE(read && read->runs.size() == 3U);
  EXPECT_EQ(values_of(read->runs[0], "step_seconds"), (std::vector<double>{0.5, 0.25}));
  EXPECT_EQ(read->runs[0].header.series.parameters, R"({"Elements":"16777216"})");
  EXPECT_EQ(read->runs[0].header.environment.processor, "NVIDIA H100");
  EXPECT_EQ(read->runs[1].status, RunStatus::skipped);
  EXPECT_EQ(read->runs[1].reason, "too large");
}

TEST(Import, AStateOfNvbenchWithoutItsFileGivesItsMeanAndSaysSo) {
  const Imported read = read_text(nvbench_text);
  EXPECT_EQ(values_of(read.runs.at(0), "step_seconds"), (std::vector<double>{0.375}));
  EXPECT_TRUE(notes_say(read, 5, "result.json-bin/0.bin")) << read.notes.at(0).line;
  EXPECT_EQ(read.runs.at(2).reason, "no accepted samples") << "neither file nor mean";
}

TEST(Import, CommandsOfHyperfineKeepTheirTimesAndTheirFailures) {
  const Imported read = read_text(hyperfine_text);
  ASSERT_EQ(read.runs.size(), 2U);
  EXPECT_EQ(values_of(read.runs[0], "step_seconds"), (std::vector<double>{0.25, 0.5}));
  EXPECT_EQ(values_of(read.runs[0], "cpu_seconds"), (std::vector<double>{0.75}));
  EXPECT_EQ(read.runs[1].header.series.parameters, R"({"command":"make \"all\"","jobs":"4"})");
  EXPECT_EQ(read.runs[1].status, RunStatus::failed);
  EXPECT_EQ(read.runs[1].reason, "1 of 2 runs of the command failed");
}

TEST(Import, TheRingAttentionBenchmarkIsTheProblemOfTheScenario) {
  const Imported read = read_text(ring_attention_text);
  ASSERT_EQ(read.runs.size(), 1U);
  const StoredRun& run = read.runs[0];
  EXPECT_EQ(run.header.series.parameters,
            R"({"batch":"1","head-dim":"256","heads":"8","sequence":"8192"})");
  EXPECT_TRUE(run.header.series.train);
  EXPECT_EQ(run.header.series.mesh, "domain=4");
  EXPECT_EQ(values_of(run, "step_seconds"), (std::vector<double>{0.004, 0.005}));
  EXPECT_EQ(values_of(run, "peak_bytes.allocated"), (std::vector<double>{133456789}));
}

TEST(Import, ARowOfTheVitBenchmarkIsAnInferenceAndATrainingRun) {
  const Imported read = read_text(vit_csv_text, vit_csv_name);
  ASSERT_EQ(read.runs.size(), 4U);
  const StoredRun& train = read.runs[1];
  EXPECT_EQ(train.header.series.mesh, "data=2,domain=8");
  EXPECT_EQ(train.header.series.dtype, "float16");
  EXPECT_TRUE(train.header.series.train);
  EXPECT_TRUE(contains(train.header.series.parameters, R"("size":"1024x1024")"));
  EXPECT_TRUE(contains(train.header.series.parameters, R"("width":"768")"));
  EXPECT_EQ(values_of(train, "step_seconds"), (std::vector<double>{0.5}));
  EXPECT_EQ(values_of(train, "peak_bytes.allocated"),
            (std::vector<double>{2.5 * 1024 * 1024 * 1024}));
  EXPECT_EQ(read.runs[2].reason, "out of memory");
}

TEST(Import, AVitFileWhoseNameSaysNothingAsksForMeshAndDtype) {
  const Error error = error_of([] { static_cast<void>(read_text(vit_csv_text, "a b\n.csv")); });
  EXPECT_TRUE(contains(error.what(), "give --mesh and --dtype")) << error.what();
  const Imported read =
      read_text(vit_csv_text, "a b\n.csv", {.mesh = "domain=8", .dtype = "float32"});
  EXPECT_EQ(read.runs.at(0).header.series.mesh, "domain=8");
}

TEST(Import, DamagedFilesNameTheirLine) {
  const std::string cut(hyperfine_text, std::string(hyperfine_text).find("\"times\": [0.25") + 12);
  EXPECT_TRUE(contains(error_of([&] { static_cast<void>(read_text(cut)); }).what(),
                       "file.json:3: not readable as JSON"));
  std::string deep = "{\"a\":\n";
  for (int i = 0; i < 200; ++i) deep += '[';
  EXPECT_TRUE(contains(error_of([&] { static_cast<void>(read_text(deep)); }).what(), "levels"));
  std::string bad = vit_csv_text;
  bad.replace(bad.find("0.25"), 4, "fast");
  EXPECT_TRUE(contains(error_of([&] { static_cast<void>(read_text(bad, vit_csv_name)); }).what(),
                       "px.csv:2: fwd(s) 'fast' is no number"));
}

TEST(Import, WhatNoFormatFitsIsNotRead) {
  EXPECT_FALSE(read_import(source_of(""), {}));
  EXPECT_FALSE(read_import(source_of("a,b\n1,2\n"), {}));
  EXPECT_FALSE(read_import(source_of("{\"benchmarks\": 3}"), {}));
  EXPECT_FALSE(read_import(source_of("[1, 2]"), {}));
}

TEST(Import, TimesOfAnyOffsetBecomeUtc) {
  EXPECT_EQ(utc_from("2026-03-01T00:30:00+01:00"), "2026-02-28T23:30:00.000000Z");
  EXPECT_EQ(utc_from("2026-05-01 10:11:12.25"), "2026-05-01T10:11:12.250000Z");
  EXPECT_EQ(utc_from("2026-05-01T10:11:12Z"), "2026-05-01T10:11:12.000000Z");
  EXPECT_EQ(utc_from("2026-02-30T10:11:12Z"), "");
  EXPECT_EQ(utc_from("yesterday"), "");
}

class ImportStore : public StorageTest {
 protected:
  std::vector<bool> import(const std::string& text) {
    const ImportSource source = source_of(text);
    Imported imported = read_text(text);
    complete(imported, source, {}, "shardlab import file.json");
    return Store(path).add(imported.runs);
  }

  std::string exported(const std::string& database, decltype(export_csv) exporter) {
    const Reader reader = open_for_reading(database);
    std::vector<RunId> runs;
    for (const RunInfo& info : list_runs(reader)) runs.push_back(info.id);
    std::ranges::reverse(runs);
    std::string text;
    exporter(reader, runs, [&](std::string_view part) { text += part; });
    return text;
  }
};

TEST_F(ImportStore, TheSameFileAgainChangesNothing) {
  EXPECT_EQ(import(google_benchmark_text), (std::vector{true, true, true}));
  const std::string before = content_of(path);
  EXPECT_EQ(import(google_benchmark_text), (std::vector{false, false, false}));
  EXPECT_EQ(content_of(path), before);
}

TEST_F(ImportStore, RunsOfImportedMeshesFormAScalingCurve) {
  std::string one = ring_attention_text;
  one.replace(one.find("\"world_size\": 4"), 15, "\"world_size\": 1");
  import(ring_attention_text);
  import(one);
  const auto curves = scaling_curves(open_for_reading(path));
  ASSERT_EQ(curves.size(), 1U);
  ASSERT_EQ(curves[0].rows.size(), 2U);
  EXPECT_EQ(curves[0].rows[1].efficiency, 0.25) << "as fast on 4 ranks as on 1";
  EXPECT_EQ(curves[0].rows[1].peak_bytes, 133456789);
}

TEST_F(ImportStore, WhatIsExportedAndImportedElsewhereIsTheSame) {
  import(google_benchmark_text);
  import(ring_attention_text);
  {
    Store store(path);
    const RunId run = store.start_run(header_of("=cmd|' /C calc'!A0, \"x\"\n", "data=2,domain=2"));
    MetricSamples samples = samples_of(step_seconds(), 3, 4, 0.1);
    samples.samples[0].warmup = true;
    store.append(run, {.metrics = {samples, samples_of(bytes_sent(), 1, 4, 9007199254740991.0)},
                       .checks = {{"logits", std::numeric_limits<double>::quiet_NaN(), 1e-3}},
                       .uncertainties = {{step_seconds(), 1, 2, 0.8, "guess"}},
                       .folds = {{0, 2, "0-1"}}});
    store.finish_run(run, RunStatus::complete);
  }
  const std::string json = exported(path, export_json);
  const std::string elsewhere = (folder / "elsewhere.sqlite").string();
  Imported imported = read_text(json);
  complete(imported, source_of(json), {}, "");
  Store(elsewhere).add(imported.runs);
  EXPECT_EQ(exported(elsewhere, export_csv), exported(path, export_csv));
  EXPECT_EQ(exported(elsewhere, export_json).size(), json.size());
  EXPECT_TRUE(contains(exported(path, export_csv), ",\"'=cmd|' /C calc'!A0, \"\"x\"\"\n\","));
}

TEST_F(ImportStore, ALocaleWithDecimalCommasChangesNoNumber) {
  import(google_benchmark_text);
  const std::string csv = exported(path, export_csv), json = exported(path, export_json);
  std::optional<Commas> commas(std::in_place);
  const std::string csv_there = exported(path, export_csv),
                    json_there = exported(path, export_json);
  path = (folder / "there.sqlite").string();
  import(google_benchmark_text);
  const std::string read_there = exported(path, export_csv);
  commas.reset();
  EXPECT_EQ(csv_there, csv);
  EXPECT_EQ(json_there, json);
  EXPECT_EQ(read_there, csv);
}

TEST_F(ImportStore, PredictedRunsNeedNotSayOnWhatTheyRan) {
  RunHeader header = header_of("vit");
  header.environment.processor.clear();
  header.series.execution = Execution::predict;
  header.series.machine = "dgx-h100";
  Store(path).start_run(header);
  EXPECT_TRUE(names_processors(read_text(exported(path, export_json))));
  header.series.execution = Execution::cpu;
  header.series.machine.clear();
  Store(path).start_run(header);
  EXPECT_FALSE(names_processors(read_text(exported(path, export_json))));
}

TEST_F(ImportStore, ARunThatWasRunningIsInterruptedElsewhere) {
  Store(path).start_run(header_of("vit"));
  Imported imported = read_text(exported(path, export_json));
  const std::string elsewhere = (folder / "elsewhere.sqlite").string();
  Store(elsewhere).add(imported.runs);
  EXPECT_EQ(list_runs(open_for_reading(elsewhere)).at(0).status, RunStatus::interrupted);
}

TEST_F(ImportStore, AMetricOfAnotherUnitStoresNothingOfTheImport) {
  Store(path).append(Store(path).start_run(header_of("a")),
                     {.metrics = {{{"cpu_seconds", "h"}, {{0, 0, false, 1}}}}});
  const std::string before = content_of(path);
  EXPECT_TRUE(contains(error_of([&] { import(google_benchmark_text); }).what(),
                       "metric cpu_seconds: stored as (unit h"));
  EXPECT_EQ(content_of(path), before);
}

}  // namespace
}  // namespace shardlab::results
