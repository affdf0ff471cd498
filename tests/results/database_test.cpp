#include "results/database.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <csignal>

#include "results/query.h"
#include "tests/results/fixture.h"

namespace shardlab::results {
namespace {

namespace fs = std::filesystem;

class DatabaseTest : public StorageTest {
 protected:
  // What opening for writing and for reading say about a path; both must fail alike.
  void expect_refused(const std::string& file, const std::string& part,
                      const std::string& reading_part = "") {
    const Error write = error_of([&] { Store store(file, {.busy_seconds = 0.1}); });
    const Error read = error_of(
        [&] { static_cast<void>(list_runs(open_for_reading(file, {.busy_seconds = 0.1}))); });
    for (const Error& error : {write, read}) {
      EXPECT_EQ(error.fault(), Fault::external) << error.what();
      EXPECT_TRUE(contains(error.what(), file + ": ")) << error.what();
    }
    EXPECT_TRUE(contains(write.what(), part)) << write.what();
    EXPECT_TRUE(contains(read.what(), reading_part.empty() ? part : reading_part)) << read.what();
  }

  void write(const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

  // Rows that take more room than any limit used here.
  static Rows many_rows() { return {.metrics = {samples_of(step_seconds(), 60'000, 1)}}; }
};

TEST_F(DatabaseTest, AFileThatIsNoDatabaseIsRefusedAndKept) {
  const std::string text = "milliseconds,gpus\n" + std::string(5000, 'x');
  write(text);
  expect_refused(path, "not a SQLite database");
  EXPECT_EQ(content_of(path), text);
}

TEST_F(DatabaseTest, ADatabaseOfAnotherProgramIsRefusedAndKept) {
  Database(path, Database::Mode::create, 1).execute("CREATE TABLE song (title TEXT)");
  const std::string before = content_of(path);
  expect_refused(path, "not one of shardlab");
  EXPECT_EQ(content_of(path), before);
}

TEST_F(DatabaseTest, ADatabaseWithOurMarkAndOtherTablesIsRefused) {
  Database(path, Database::Mode::create, 1)
      .execute(("PRAGMA application_id = 1397247042; CREATE TABLE run (x); PRAGMA user_version = " +
                std::to_string(current_schema().version))
                   .c_str());
  const Error error = error_of([&] { Store(path).start_run(header_of("vit")); });
  EXPECT_EQ(error.fault(), Fault::external);
  EXPECT_TRUE(contains(error.what(), "its tables are not those of a shardlab database"))
      << error.what();
  EXPECT_EQ(error_of([&] { static_cast<void>(list_runs(open_for_reading(path))); }).fault(),
            Fault::external);
}

TEST_F(DatabaseTest, ATruncatedDatabaseIsCalledDamagedAndKept) {
  {
    Store store(path);
    store.append(store.start_run(header_of("vit")), {.metrics = {samples_of(flop(), 5000, 2)}});
  }
  fs::resize_file(path, fs::file_size(path) / 2);
  const std::string before = content_of(path);
  const Error error = error_of([&] {
    const Reader reader = open_for_reading(path);
    static_cast<void>(read_run(reader, {1}));
  });
  EXPECT_EQ(error.fault(), Fault::external);
  EXPECT_TRUE(contains(error.what(), "the database is damaged")) << error.what();
  EXPECT_EQ(content_of(path), before);
}

TEST_F(DatabaseTest, AFolderIsNoDatabase) {
  expect_refused(folder.string(), "the database cannot be opened: it is a folder");
}

TEST_F(DatabaseTest, APathThatDoesNotExistIsNamed) {
  expect_refused((folder / "none" / "runs.sqlite").string(), "the database cannot be opened",
                 "No such file or directory");
  EXPECT_EQ(error_of([&] { static_cast<void>(open_for_reading(path)); }).fault(), Fault::external);
  EXPECT_FALSE(fs::exists(path)) << "reading must not create the file";
  EXPECT_EQ(error_of([] { Store store(""); }).fault(), Fault::invalid);
}

TEST_F(DatabaseTest, PathsThatMeanSomethingToSqliteAreOrdinaryNames) {
  const fs::path here = fs::current_path();
  fs::current_path(folder);
  for (const std::string name : {":memory:", "file:x?mode=memory", "a b\n'c'.sqlite"}) {
    Store(name).start_run(header_of("vit"));
    EXPECT_TRUE(fs::exists(folder / name)) << name;
    EXPECT_EQ(list_runs(open_for_reading(name)).size(), 1U) << name;
  }
  fs::current_path(here);
}

TEST_F(DatabaseTest, AnEmptyFileBecomesADatabase) {
  write("");
  Store(path).start_run(header_of("vit"));
  EXPECT_EQ(list_runs(open_for_reading(path)).size(), 1U);
}

TEST_F(DatabaseTest, AWriteAheadLogThatSomebodySwitchedOnIsSwitchedOff) {
  Store(path).start_run(header_of("vit"));
  Database(path, Database::Mode::write, 1).execute("PRAGMA journal_mode = WAL");
  Store(path).start_run(header_of("vit"));
  EXPECT_EQ(Database(path, Database::Mode::read, 1).text("PRAGMA journal_mode"), "delete");
}

TEST_F(DatabaseTest, ALockHeldTooLongIsReported) {
  Store store(path, {.busy_seconds = 0.2});
  Database other(path, Database::Mode::write, 1);
  other.execute("BEGIN IMMEDIATE");
  const Error error = error_of([&] { store.start_run(header_of("vit")); });
  EXPECT_EQ(error.fault(), Fault::external);
  EXPECT_TRUE(contains(error.what(), "another process has kept the database locked for 0.2 s"))
      << error.what();
  EXPECT_TRUE(list_runs(open_for_reading(path)).empty()) << "readers go on meanwhile";
  other.execute("ROLLBACK");
  EXPECT_EQ(store.start_run(header_of("vit")).value, 1);
}

TEST_F(DatabaseTest, ATransactionThatIsNotCommittedIsUndone) {
  Database database(path, Database::Mode::create, 1);
  database.execute("CREATE TABLE t (x)");
  { Transaction(database, Transaction::Kind::write); }
  {
    Transaction transaction(database, Transaction::Kind::write);
    database.execute("INSERT INTO t VALUES (1)");
  }
  EXPECT_EQ(database.integer("SELECT count(*) FROM t"), 0);
  {
    Transaction outer(database, Transaction::Kind::write);
    Transaction inner(database, Transaction::Kind::read);
    database.execute("INSERT INTO t VALUES (1)");
    inner.commit();
    outer.commit();
  }
  EXPECT_EQ(database.integer("SELECT count(*) FROM t"), 1);
}

TEST_F(DatabaseTest, AWriteTransactionHoldsTheLockFromItsBeginning) {
  Database a(path, Database::Mode::create, 0), b(path, Database::Mode::write, 0);
  a.execute("CREATE TABLE t (x)");
  Transaction first(a, Transaction::Kind::write);
  EXPECT_EQ(error_of([&] { Transaction(b, Transaction::Kind::write); }).fault(), Fault::external);
  EXPECT_EQ(b.integer("SELECT count(*) FROM t"), 0) << "readers need not wait";
  first.commit();
  EXPECT_NO_THROW(Transaction(b, Transaction::Kind::write));
}

// Root may write everywhere, so these tests give up that right for a while.
class ReadOnlyTest : public DatabaseTest {
 protected:
  void SetUp() override {
    Store(path).start_run(header_of("vit"));
    if (geteuid() != 0) return;
    constexpr uid_t nobody = 65534;
    ASSERT_EQ(chown(folder.c_str(), nobody, nobody), 0);
    ASSERT_EQ(chown(path.c_str(), nobody, nobody), 0);
    if (seteuid(nobody) != 0) GTEST_SKIP() << "root that cannot become another user";
    was_root = true;
  }
  void TearDown() override {
    if (was_root) {
      ASSERT_EQ(seteuid(0), 0);
    }
  }
  bool was_root = false;
};

TEST_F(ReadOnlyTest, AFileThatMayNotBeWrittenIsReadAndNotWritten) {
  fs::permissions(path, fs::perms::owner_read);
  const Error error = error_of([&] { Store(path).start_run(header_of("vit")); });
  EXPECT_EQ(error.fault(), Fault::external);
  EXPECT_TRUE(contains(error.what(), path + ": cannot be written: the file or its folder is "
                                            "read-only"))
      << error.what();
  EXPECT_EQ(list_runs(open_for_reading(path)).size(), 1U);
}

TEST_F(ReadOnlyTest, AFolderThatMayNotBeWrittenIsReadAndNotWritten) {
  fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);
  const Error error = error_of([&] { Store(path).start_run(header_of("vit")); });
  EXPECT_EQ(error.fault(), Fault::external);
  EXPECT_TRUE(contains(error.what(), "cannot be written: SQLite keeps a journal in its folder " +
                                         fs::canonical(folder).string() + ": Permission denied"))
      << error.what();
  EXPECT_EQ(list_runs(open_for_reading(path)).size(), 1U);
}

TEST_F(ReadOnlyTest, ANewFileInAFolderThatMayNotBeWrittenIsRefused) {
  fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);
  const Error error = error_of([&] { Store store((folder / "new.sqlite").string()); });
  EXPECT_EQ(error.fault(), Fault::external);
  EXPECT_TRUE(contains(error.what(), "new.sqlite: ")) << error.what();
}

TEST_F(ReadOnlyTest, AFileThatMayNotBeReadIsRefused) {
  fs::permissions(path, fs::perms::none);
  expect_refused(path, "the database cannot be opened: ");
}

// In a child, because the limit cannot be taken back.
TEST_F(DatabaseTest, AFileThatMayNotGrowKeepsWhatWasStoredBefore) {
  const pid_t child = start_child([&] {
    Store store(path);
    const RunId run = store.start_run(header_of("vit"));
    store.append(run, {.metrics = {samples_of(flop(), 10, 2)}});
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 19, 1 << 19};
    setrlimit(RLIMIT_FSIZE, &limit);
    const Error error = error_of([&] { store.append(run, many_rows()); });
    const bool is_told = error.fault() == Fault::external && contains(error.what(), path + ": ") &&
                         contains(error.what(), "what was stored before is kept");
    if (!is_told) std::cerr << error.what() << '\n';
    const auto status = store.finish_run(run, RunStatus::failed, error.what());
    return is_told && status == RunStatus::failed ? 0 : 1;
  });
  ASSERT_EQ(wait_for(child), 0);
  const StoredRun run = read_run(open_for_reading(path), {1});
  EXPECT_EQ(run.status, RunStatus::failed);
  ASSERT_EQ(run.rows.metrics.size(), 1U);
  EXPECT_EQ(run.rows.metrics[0].samples.size(), 20U);
}

// Mounts an empty file system of that size for this process alone; false if it may not.
bool mount_small_disk(const fs::path& folder, const char* size) {
  if (unshare(CLONE_NEWNS) != 0) {
    const auto user = std::to_string(geteuid());
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
  }
  return mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("none", folder.c_str(), "tmpfs", 0, size) == 0;
}

TEST_F(DatabaseTest, AFullDiskKeepsWhatWasStoredBefore) {
  constexpr int no_mounts = 77;
  const pid_t child = start_child([&] {
    if (!mount_small_disk(folder, "size=1m")) return no_mounts;
    Store store(path);
    const RunId run = store.start_run(header_of("vit"));
    store.append(run, {.metrics = {samples_of(flop(), 10, 2)}});
    const Error error = error_of([&] { store.append(run, many_rows()); });
    EXPECT_EQ(error.fault(), Fault::external);
    EXPECT_TRUE(contains(error.what(), path + ": the disk is full")) << error.what();
    EXPECT_EQ(store.finish_run(run, RunStatus::failed, error.what()), RunStatus::failed);
    EXPECT_EQ(read_run(open_for_reading(path), run).rows.metrics.at(0).samples.size(), 20U);
    return testing::Test::HasFailure() ? 1 : 0;
  });
  const int status = wait_for(child);
  if (status == no_mounts) GTEST_SKIP() << "no mounts without privileges here";
  EXPECT_EQ(status, 0);
}

TEST_F(DatabaseTest, ADatabaseThatMayHaveNoMorePagesIsCalledFull) {
  Database database(path, Database::Mode::create, 1);
  database.execute("CREATE TABLE t (x); PRAGMA max_page_count = 3");
  const Error error =
      error_of([&] { database.execute("INSERT INTO t VALUES (zeroblob(100000))"); });
  EXPECT_EQ(error.fault(), Fault::external);
  EXPECT_TRUE(contains(error.what(), path + ": the disk is full")) << error.what();
}

}  // namespace
}  // namespace shardlab::results
