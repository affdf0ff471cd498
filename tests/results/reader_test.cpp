#include "results/reader.h"

#include <csignal>

#include "results/query.h"
#include "tests/results/fixture.h"

namespace shardlab::results {
namespace {

namespace fs = std::filesystem;

class ReaderTest : public StorageTest {
 protected:
  // Leaves a journal and a database half overwritten, as a writer does that is killed while its
  // transaction is larger than its cache.
  void leave_hot_journal() {
    {
      Store store(path);
      const RunId run = store.start_run(header_of("vit"));
      store.append(run, {.metrics = {samples_of(step_seconds(), 2000, 2)}});
      store.finish_run(run, RunStatus::complete);
    }
    const std::string committed = content_of(path);
    const pid_t child = start_child([&] {
      Database database(path, Database::Mode::write, 1);
      database.execute(
          "PRAGMA cache_size = 5; BEGIN IMMEDIATE; UPDATE sample SET value = 0;"
          "UPDATE run SET status = 'failed'; UPDATE series SET scenario = 'wrong'");
      return raise(SIGKILL);
    });
    ASSERT_EQ(wait_for(child), -SIGKILL);
    ASSERT_TRUE(fs::exists(path + "-journal"));
    ASSERT_NE(content_of(path), committed) << "nothing half-written reached the file";
  }

  void expect_committed_rows(const Reader& reader) {
    const StoredRun run = read_run(reader, {1});
    EXPECT_EQ(run.status, RunStatus::complete);
    EXPECT_EQ(run.header.series.scenario, "vit");
    EXPECT_EQ(run.rows.metrics.at(0).samples, samples_of(step_seconds(), 2000, 2).samples);
  }
};

TEST_F(ReaderTest, ReadingChangesNeitherTheFileNorItsFolder) {
  {
    Store store(path);
    const RunId run = store.start_run(header_of("vit"));
    store.append(run, {.metrics = {samples_of(step_seconds(), 10, 2)}});
  }
  const auto before = content_of_folder(folder);
  const auto time = fs::last_write_time(path);
  {
    const Reader reader = open_for_reading(path);
    EXPECT_EQ(reader.notice(), "");
    EXPECT_EQ(list_runs(reader).size(), 1U);
    static_cast<void>(read_run(reader, {1}));
    EXPECT_EQ(content_of_folder(folder), before);
  }
  EXPECT_EQ(content_of_folder(folder), before);
  EXPECT_EQ(fs::last_write_time(path), time);
}

TEST_F(ReaderTest, TheConnectionOfAReaderCannotWrite) {
  Store(path).start_run(header_of("vit"));
  const Reader reader = open_for_reading(path);
  EXPECT_THROW(reader.database().execute("DELETE FROM run"), Error);
}

TEST_F(ReaderTest, AHotJournalIsUndoneInACopyAndTheFileStaysAsItIs) {
  leave_hot_journal();
  const auto before = content_of_folder(folder);
  {
    const Reader reader = open_for_reading(path);
    EXPECT_TRUE(contains(reader.notice(), path + ": a writer was killed")) << reader.notice();
    expect_committed_rows(reader);
    EXPECT_THROW(reader.database().execute("DELETE FROM run"), Error);
  }
  EXPECT_EQ(content_of_folder(folder), before);
}

TEST_F(ReaderTest, AHotJournalIsUndoneInACopyThroughASymbolicLink) {
  leave_hot_journal();
  const fs::path link = folder / "link";
  fs::create_symlink(path, link);
  const auto before = content_of_folder(folder);
  expect_committed_rows(open_for_reading(link.string()));
  EXPECT_EQ(content_of_folder(folder), before);
}

TEST_F(ReaderTest, AHotJournalIsUndoneInTheFileByTheNextWriter) {
  leave_hot_journal();
  Store(path).start_run(header_of("ring"));
  const Reader reader = open_for_reading(path);
  EXPECT_EQ(reader.notice(), "");
  expect_committed_rows(reader);
  EXPECT_EQ(list_runs(reader).size(), 2U);
}

TEST_F(ReaderTest, CopiesAreRemovedWithTheirReader) {
  leave_hot_journal();
  const fs::path temporary = folder / "temporary";
  fs::create_directory(temporary);
  const char* old = std::getenv("TMPDIR");
  const std::string kept = old ? old : "";
  setenv("TMPDIR", temporary.c_str(), 1);
  {
    Reader reader = open_for_reading(path);
    EXPECT_FALSE(fs::is_empty(temporary));
    Reader moved = std::move(reader);
    expect_committed_rows(moved);
  }
  EXPECT_TRUE(fs::is_empty(temporary));
  setenv("TMPDIR", (folder / "none").c_str(), 1);
  EXPECT_EQ(error_of([&] { static_cast<void>(open_for_reading(path)); }).fault(), Fault::external);
  old ? setenv("TMPDIR", kept.c_str(), 1) : unsetenv("TMPDIR");
}

const int now = current_schema().version;
const Migration add_note[] = {{now, "ALTER TABLE run ADD COLUMN note TEXT NOT NULL DEFAULT 'n'"}};
const Schema later{.version = now + 1, .create = schema_sql, .migrations = add_note};
const std::string older = "has schema version " + std::to_string(now);

TEST_F(ReaderTest, AnOlderSchemaIsMigratedInACopyAndTheFileStaysAsItIs) {
  Store(path).start_run(header_of("vit"));
  const auto before = content_of_folder(folder);
  {
    const Reader reader = open_for_reading(path, {.schema = later});
    EXPECT_TRUE(contains(
        reader.notice(),
        path + ": " + older + "; read from a copy that was migrated to " + std::to_string(now + 1)))
        << reader.notice();
    EXPECT_EQ(list_runs(reader).size(), 1U);
    EXPECT_EQ(reader.database().text("SELECT note FROM run"), "n");
  }
  EXPECT_EQ(content_of_folder(folder), before);
}

TEST_F(ReaderTest, AHotJournalOfAnOlderSchemaIsUndoneAndMigratedInACopy) {
  leave_hot_journal();
  const auto before = content_of_folder(folder);
  {
    const Reader reader = open_for_reading(path, {.schema = later});
    EXPECT_TRUE(contains(reader.notice(), "a writer was killed"));
    EXPECT_TRUE(contains(reader.notice(), older));
    expect_committed_rows(reader);
    EXPECT_EQ(reader.database().text("SELECT note FROM run"), "n");
  }
  EXPECT_EQ(content_of_folder(folder), before);
}

TEST_F(ReaderTest, ANewerSchemaIsRefused) {
  Store(path).start_run(header_of("vit"));
  Database(path, Database::Mode::write, 1).execute("PRAGMA user_version = 70");
  const Error error = error_of([&] { static_cast<void>(open_for_reading(path)); });
  EXPECT_EQ(error.fault(), Fault::external);
  EXPECT_TRUE(contains(error.what(), "has schema version 70, this shardlab knows up to"));
}

TEST_F(ReaderTest, AnEmptyFileHasNoRunsAndStaysEmpty) {
  std::ofstream{path};
  const Reader reader = open_for_reading(path);
  EXPECT_TRUE(list_runs(reader).empty());
  EXPECT_EQ(reader.notice(), path + ": is empty");
  EXPECT_EQ(fs::file_size(path), 0U);
}

}  // namespace
}  // namespace shardlab::results
