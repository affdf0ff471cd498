#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/results/import_texts.h"
#include "tests/tools/typed.h"

namespace shardlab::test {
namespace {

using Json = nlohmann::json;

class ImportCommand : public Typed {
 protected:
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.path(name)) << text;
  }
};

TEST_F(ImportCommand, FilesOfSeveralProgramsAreStoredAndShown) {
  write("gb.json", results::google_benchmark_text);
  write("a b.json", results::ring_attention_text);
  const Ended import = type("import gb.json 'a b.json' --commit abc --json");
  ASSERT_EQ(import.exit, 0) << import.err;
  const Json files = Json::parse(import.out);
  EXPECT_EQ(files[0]["format"], "Google Benchmark JSON");
  EXPECT_EQ(files[0]["added"], 3);
  EXPECT_EQ(files[0]["skipped"], 1);
  EXPECT_EQ(files[1]["added"], 1);
  EXPECT_TRUE(has(import.err, "gb.json:7: 1 value is NaN or infinite and left out")) << import.err;
  const std::string show = type("show").out;
  EXPECT_TRUE(has(show, "ring_attention, float32, training, on cuda by pytorch-shardtensor"))
      << show;
  EXPECT_TRUE(has(show, "copy<float, 2>, on cpu by google-benchmark")) << show;
  EXPECT_EQ(Json::parse(type("show 1 --json").out)["commit"], "abc");
  EXPECT_TRUE(has(type("import gb.json --commit abc").out, "every run is there already"));
}

TEST_F(ImportCommand, NcclTestsGiveARunASizeWithTheRanksThatTheNumbersShow) {
  // busbw is 1.75 times algbw: an all-reduce on 8 ranks.
  write("log.txt",
        "# nThread 1 nGpus 8 minBytes 1048576 maxBytes 2097152\n"
        "#       size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw "
        "#wrong\n"
        "     1048576 262144 float sum -1 50.00 20.97 36.70 0 40.00 26.21 45.88 0\n"
        "     2097152 524288 float sum -1 80.00 26.21 45.88 0 80.00 26.21 45.88 0\n");
  const Ended import = type("import log.txt --processor H100");
  ASSERT_EQ(import.exit, 0) << import.err;
  const Json run = Json::parse(type("show 1 --json").out);
  EXPECT_EQ(run["series"]["mesh"], "domain=8");
  EXPECT_EQ(run["series"]["parameters"]["bytes"], "1048576");
  EXPECT_EQ(run["environment"]["processor"], "H100");
  EXPECT_DOUBLE_EQ(run["metrics"][0]["samples"][0]["value"], 50e-6);
}

TEST_F(ImportCommand, ABadFileIsNamedAndNothingIsStored) {
  write("good.json", results::ring_attention_text);
  write("notes.txt", "hello\n");
  write("cut.json", "{\"results\": [\n{\"command\":");
  expect("import good.json notes.txt", 2, "notes.txt: of no format that is known: nccl-tests");
  expect("import good.json cut.json", 2, "cut.json:2: not readable as JSON");
  expect("import good.json none.json", 4, "none.json: cannot be read");
  expect("import .", 2, "a folder");
  expect("import", 2, "file");
  EXPECT_FALSE(std::filesystem::exists(folder_.path("shardlab.sqlite")));
}

TEST_F(ImportCommand, AFileWithoutRunsIsSaidToBeOne) {
  write("empty.json", R"({"context": {}, "benchmarks": []})");
  const Ended import = type("import empty.json");
  EXPECT_EQ(import.exit, 3);
  EXPECT_TRUE(has(import.out, "nothing is stored"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path("shardlab.sqlite")));
}

TEST_F(ImportCommand, StoredTextsCommandNoTerminal) {
  write("a\nb.json", R"({"results": [{"command": "\u001b[31mred\n", "times": [1]}]})");
  const Ended import = type("import 'a\nb.json'");
  ASSERT_EQ(import.exit, 0) << import.err;
  EXPECT_TRUE(has(import.out, "a b.json")) << import.out;
  const std::string show = type("show").out + type("show 1").out;
  EXPECT_TRUE(has(show, "command=?[31mred ")) << show;
  EXPECT_FALSE(has(show, "\x1b")) << show;
}

TEST_F(ImportCommand, ExportWritesWhatAnotherDatabaseReads) {
  write("gb.json", results::google_benchmark_text);
  ASSERT_EQ(type("import gb.json").exit, 0);
  ASSERT_EQ(type("export --csv a.csv --json 'a\nb.json'").exit, 0);
  ASSERT_EQ(type("import 'a\nb.json' --db other.sqlite").exit, 0);
  ASSERT_EQ(type("export --csv b.csv --db other.sqlite").exit, 0);
  EXPECT_EQ(text_of(folder_.path("a.csv")), text_of(folder_.path("b.csv")));
  EXPECT_TRUE(has(text_of(folder_.path("a.csv")), "step_seconds [s]"));
  EXPECT_EQ(Json::parse(type("export 1 --json -").out).size(), 1U);
}

TEST_F(ImportCommand, ExportNeverWritesOverTheDatabase) {
  write("gb.json", results::google_benchmark_text);
  ASSERT_EQ(type("import gb.json").exit, 0);
  expect("export --csv shardlab.sqlite", 2, "that is a results file");
  expect("export", 2, "give --csv FILE or --json FILE");
  expect("export 99 --csv a.csv", 2, "no run '99'");
  expect("export --csv none/a.csv", 4, "none/a.csv: cannot be written");
  expect("export --db none.sqlite --csv a.csv", 4, "none.sqlite");
}

TEST_F(ImportCommand, DatabasesAreMergedAndChecked) {
  write("gb.json", results::google_benchmark_text);
  write("ring.json", results::ring_attention_text);
  ASSERT_EQ(type("import gb.json --db a.sqlite").exit, 0);
  ASSERT_EQ(type("import gb.json ring.json --db b.sqlite").exit, 0);
  const Ended merged = type("db merge all.sqlite a.sqlite b.sqlite --json");
  ASSERT_EQ(merged.exit, 0) << merged.err;
  EXPECT_EQ(Json::parse(merged.out)["added"], 4) << "three of b.sqlite were in a.sqlite";
  EXPECT_TRUE(has(type("db check all.sqlite").out, "all.sqlite: sound: schema version"));
  write("text", "hello, this is no database");
  expect("db check text", 4, "text: not a SQLite database");
  expect("db merge all.sqlite text", 4, "text: not a SQLite database");
  expect("db merge all.sqlite", 2, "expected the file to write and those to merge");
  expect("db chekc all.sqlite", 2, "did you mean 'check'?");
  EXPECT_TRUE(has(type("db schema").out, "CREATE TABLE sample"));
}

TEST_F(ImportCommand, BenchmarksAreStoredAsTheyRun) {
  const std::filesystem::path perf =
      std::filesystem::path(SHARDLAB_BINARY).parent_path() / "shardlab_perf";
  if (!std::filesystem::exists(perf)) GTEST_SKIP() << "shardlab_perf is not built";
  const Ended run = run_command(perf.string() +
                                    " --benchmark_filter=dispatch_meta --benchmark_repetitions=2"
                                    " --shardlab_db=perf.sqlite",
                                folder_);
  ASSERT_EQ(run.exit, 0) << run.err;
  const Json stored = Json::parse(type("show 1 --json --db perf.sqlite").out);
  EXPECT_EQ(stored["series"]["scenario"], "dispatch_meta");
  EXPECT_EQ(stored["status"], "complete");
  for (const Json& metric : stored["metrics"])
    if (metric["name"] == "step_seconds") {
      EXPECT_EQ(metric["samples"].size(), 2U) << "repetitions";
    }
  const Ended json = run_command(
      perf.string() + " --benchmark_filter=dispatch_meta --benchmark_format=json > perf.json",
      folder_);
  ASSERT_EQ(json.exit, 0) << json.err;
  EXPECT_EQ(type("import perf.json --db json.sqlite").exit, 0) << "its output is JSON alone";
  EXPECT_EQ(run_command(perf.string() + " --shardlab_db=none/perf.sqlite", folder_).exit, 4);
}

}  // namespace
}  // namespace shardlab::test
