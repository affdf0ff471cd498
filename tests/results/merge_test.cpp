#include "results/merge.h"

#include "results/check_database.h"
#include "results/mark.h"
#include "results/query.h"
#include "tests/results/fixture.h"

namespace shardlab::results {
namespace {

class MergeTest : public StorageTest {
 protected:
  // A file of its own with one complete run of samples that begin with a number.
  std::string file_with(const std::string& name, const std::string& scenario, double first) {
    const std::string file = (folder / name).string();
    Store store(file);
    const RunId run = store.start_run(header_of(scenario));
    store.append(run, {.metrics = {samples_of(step_seconds(), 5, 2, first)},
                       .checks = {{"logits", 0, 1e-3}}});
    store.append(run, Timeline{.scopes = {{0, 0, 0, {}, "layer", 0, 1}},
                               .steps = {{0, 0, 0, 0, "add", "compute", 0, 1}}});
    store.finish_run(run, RunStatus::complete);
    return file;
  }

  std::vector<double> firsts() const {
    const Reader reader = open_for_reading(path);
    std::vector<double> values;
    for (const RunInfo& info : list_runs(reader))
      values.push_back(read_run(reader, info.id).rows.metrics.at(0).samples.at(0).value);
    std::ranges::sort(values);
    return values;
  }
};

TEST_F(MergeTest, RunsOfAllFilesAreThereWithAllTheirRows) {
  // Ids of series, metrics and runs differ between the files.
  const std::string a = file_with("a", "vit", 10), b = file_with("b b\nb", "ring_attention", 20);
  Store(b).append(Store(b).start_run(header_of("vit")),
                  {.metrics = {samples_of(loss(), 1, 1, 30)}});
  const auto merged = merge(path, {b, a});
  EXPECT_EQ(merged.at(0).added, 2);
  EXPECT_EQ(merged.at(1).added, 1);
  EXPECT_EQ(firsts(), (std::vector<double>{10, 20, 30}));
  const Reader reader = open_for_reading(path);
  const Reader before = open_for_reading(a);
  const RunId run = find_run(reader, list_runs(before).at(0).uuid);
  EXPECT_EQ(read_run(reader, run).header.series.scenario, "vit");
  EXPECT_EQ(read_timeline(reader, run).steps.at(0).op, "add");
  EXPECT_EQ(read_run(reader, run).rows.checks.at(0).name, "logits");
  EXPECT_EQ(reader.database().integer("SELECT count(*) FROM series"), 2);
  EXPECT_EQ(reader.database().integer("SELECT count(*) FROM environment"), 1);
  EXPECT_TRUE(check_database(path).problems.empty());
}

// The series has another id in the file that is merged first.
TEST_F(MergeTest, MarksComeWithTheirSeriesOnce) {
  const std::string a = file_with("a", "vit", 10), b = file_with("b", "ring_attention", 20);
  Store(a).accept({{header_of("vit").series, "step_seconds", "0a57cb53", "meant", ""}});
  merge(path, {b, a});
  merge(path, {a});
  const Reader reader = open_for_reading(path);
  const std::vector<Mark> marks = read_marks(reader, "step_seconds");
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_EQ(marks[0].series.scenario, "vit");
  EXPECT_EQ(marks[0].commit, "0a57cb53");
  EXPECT_EQ(marks[0].note, "meant");
  EXPECT_TRUE(check_database(path).problems.empty());
}

TEST_F(MergeTest, ARunIsCopiedOnceHoweverOftenItComes) {
  const std::string a = file_with("a", "vit", 10);
  merge(path, {a});
  const std::string before = content_of(path);
  EXPECT_EQ(merge(path, {a}).at(0).added, 0);
  EXPECT_EQ(content_of(path), before);
}

TEST_F(MergeTest, ARunThatWasCopiedWhileItRanIsReplacedByItsEnd) {
  const std::string a = (folder / "a").string();
  Store store(a);
  const RunId run = store.start_run(header_of("vit"));
  merge(path, {a});
  store.append(run, {.metrics = {samples_of(step_seconds(), 5, 2)}});
  store.finish_run(run, RunStatus::complete);
  EXPECT_EQ(merge(path, {a}).at(0).replaced, 1);
  const Reader reader = open_for_reading(path);
  ASSERT_EQ(list_runs(reader).size(), 1U);
  EXPECT_EQ(list_runs(reader)[0].status, RunStatus::complete);
  EXPECT_EQ(read_run(reader, list_runs(reader)[0].id).rows.metrics.at(0).samples.size(), 10U);
}

TEST_F(MergeTest, ADamagedFileIsNamedAndNothingIsMerged) {
  const std::string a = file_with("a", "vit", 10), b = file_with("b", "vit", 20);
  std::filesystem::resize_file(b, std::filesystem::file_size(b) / 2);
  const Error error = error_of([&] { merge(path, {a, b}); });
  EXPECT_EQ(error.fault(), Fault::external);
  EXPECT_TRUE(contains(error.what(), b)) << error.what();
  EXPECT_FALSE(std::filesystem::exists(path));
  file_with("runs.sqlite", "vit", 1);
  const std::string before = content_of(path);
  EXPECT_EQ(error_of([&] { merge(path, {a, b}); }).fault(), Fault::external);
  EXPECT_EQ(content_of(path), before);
}

TEST_F(MergeTest, ForeignAndNewerAndMissingFilesAreNamed) {
  const std::string text = (folder / "text").string(), newer = file_with("newer", "vit", 1);
  std::ofstream(text) << "no database, but long enough to be one of SQLite: " << newer;
  Database(newer, Database::Mode::write, 1).execute("PRAGMA user_version = 99");
  for (const std::string& bad : {text, newer, (folder / "none").string()}) {
    const Error error = error_of([&] { merge(path, {bad}); });
    EXPECT_EQ(error.fault(), Fault::external) << error.what();
    EXPECT_TRUE(contains(error.what(), bad)) << error.what();
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(MergeTest, AMetricOfAnotherMeaningIsRefused) {
  const std::string a = file_with("a", "vit", 10);
  Store store((folder / "b").string());
  store.append(store.start_run(header_of("vit")),
               {.metrics = {{{"step_seconds", "h"}, {{0, 0, false, 1}}}}});
  const Error error = error_of([&] { merge(path, {a, (folder / "b").string()}); });
  EXPECT_TRUE(contains(error.what(), "its metric 'step_seconds' is stored with another meaning"))
      << error.what();
}

TEST_F(MergeTest, TwoRunsOfOneUuidThatDifferAreRefused) {
  const std::string a = file_with("a", "vit", 10);
  merge(path, {a});
  Database(a, Database::Mode::write, 1).execute("DELETE FROM sample WHERE iteration = 4");
  EXPECT_TRUE(contains(error_of([&] { merge(path, {a}); }).what(),
                       "is there already with 13 rows, here it has 11"));
}

TEST_F(MergeTest, TheFilesAreOnlyReadAndAnOlderSchemaIsMigratedInACopy) {
  const std::string a = file_with("a", "vit", 10);
  const std::string before = content_of(a);
  const int today = current_schema().version;
  const Migration note[] = {
      {today, "ALTER TABLE run ADD COLUMN note TEXT NOT NULL DEFAULT 'migrated'"}};
  const OpenOptions newer{
      .schema = {.version = today + 1, .create = schema_sql, .migrations = note}};
  Store store(path);  // of the schema of today, and migrated by the merge
  const auto merged = merge(path, {a}, newer);
  EXPECT_TRUE(contains(merged.at(0).notice, "read from a copy that was migrated"));
  EXPECT_EQ(content_of(a), before);
  Database database(path, Database::Mode::read, 1);
  EXPECT_EQ(database.text("SELECT note FROM run"), "migrated");
  EXPECT_TRUE(std::filesystem::exists(path + ".v" + std::to_string(today)));
}

TEST_F(MergeTest, ARowThatNoStoreWouldTakeIsRefused) {
  const std::string a = file_with("a", "vit", 10);
  Database database(a, Database::Mode::write, 1);
  database.execute("PRAGMA ignore_check_constraints = ON; UPDATE run SET dirty = 7");
  const Error error = error_of([&] { merge(path, {a}); });
  EXPECT_EQ(error.fault(), Fault::external);
  EXPECT_TRUE(contains(error.what(), a + ": a row cannot be stored")) << error.what();
}

TEST_F(MergeTest, NothingIsMergedIntoItself) {
  const std::string a = file_with("a", "vit", 10);
  EXPECT_EQ(error_of([&] { merge(a, {a}); }).fault(), Fault::invalid);
  EXPECT_EQ(error_of([&] { merge(a, {}); }).fault(), Fault::invalid);
}

class CheckDatabase : public MergeTest {
 protected:
  void change(const char* sql) {
    Database database(path, Database::Mode::write, 1);
    database.execute("PRAGMA ignore_check_constraints = ON");
    database.execute(sql);
  }
  bool finds(const std::string& part) const {
    const auto found = check_database(path);
    return std::ranges::any_of(found.problems,
                               [&](const std::string& text) { return contains(text, part); });
  }
};

TEST_F(CheckDatabase, ASoundFileHasNoProblemsAndStaysAsItIs) {
  file_with("runs.sqlite", "vit", 10);
  const auto before = content_of_folder(folder);
  const DatabaseCheck found = check_database(path);
  EXPECT_TRUE(found.problems.empty());
  EXPECT_TRUE(found.remarks.empty());
  EXPECT_EQ(found.runs, 1);
  EXPECT_EQ(found.samples, 10);
  EXPECT_EQ(content_of_folder(folder), before);
}

TEST_F(CheckDatabase, SaysWhatIsWrong) {
  file_with("runs.sqlite", "vit", 10);
  const std::string sound = content_of(path);
  const std::pair<const char*, const char*> faults[] = {
      {"UPDATE sample SET value = 9e999 WHERE iteration = 2", "2 values of value are not finite"},
      {"UPDATE sample SET run = 77", "table sample: 10 rows point to a run that is not there"},
      {"UPDATE series SET ranks = 3", "mesh domain=2 is not of 3 ranks"},
      {"UPDATE series SET parameters = '{\"b\":1, \"a\":2}'", "not in canonical form"},
      {"UPDATE series SET mesh = 'x'", "mesh 'x'"},
      {"UPDATE environment SET hash = 'abc'", "stored is abc"},
      {"UPDATE run SET status = 'odd'", "damaged: CHECK constraint failed in run"},
      {"DROP TABLE fold", "table fold is missing"},
      {"ALTER TABLE run RENAME COLUMN branch TO twig", "table run: column branch is missing"}};
  for (const auto& [sql, part] : faults) {
    change(sql);
    EXPECT_TRUE(finds(part)) << sql << ": "
                             << (check_database(path).problems.empty()
                                     ? "nothing"
                                     : check_database(path).problems[0]);
    std::ofstream(path, std::ios::binary) << sound;
  }
}

TEST_F(CheckDatabase, RemarksWhatMaySurprise) {
  file_with("runs.sqlite", "vit", -1);
  Store store(path);
  store.finish_run(store.start_run(header_of("empty")), RunStatus::complete);
  const auto remarks = check_database(path).remarks;
  ASSERT_EQ(remarks.size(), 2U);
  EXPECT_EQ(remarks[0], "1 complete runs hold nothing");
  EXPECT_EQ(remarks[1], "1 times are below zero");
}

}  // namespace
}  // namespace shardlab::results
