#include "results/schema.h"

#include "results/query.h"
#include "tests/results/fixture.h"

namespace shardlab::results {
namespace {

class SchemaTest : public StorageTest {};

TEST_F(SchemaTest, TextAndCodeAgreeOnVersionAndApplication) {
  Database database(path, Database::Mode::create, 1);
  database.execute(schema_sql);
  EXPECT_EQ(database.integer("PRAGMA user_version"), current_schema().version);
  EXPECT_EQ(database.integer("PRAGMA application_id"), application_id);
}

TEST_F(SchemaTest, EveryTableIsStrict) {
  Database database(path, Database::Mode::create, 1);
  database.execute(schema_sql);
  Statement tables(database,
                   "SELECT name, strict FROM pragma_table_list WHERE schema = 'main'"
                   " AND type = 'table' AND name NOT LIKE 'sqlite_%'");
  int count = 0;
  for (; tables.step(); ++count) EXPECT_EQ(tables.integer(1), 1) << tables.text(0);
  EXPECT_EQ(count, 11);
}

TEST_F(SchemaTest, ItselfRefusesSamplesThatAreNotFinite) {
  Store store(path);
  const RunId run = store.start_run(header_of("vit"));
  store.append(run, {.metrics = {samples_of(step_seconds(), 1, 1)}});
  Database database(path, Database::Mode::write, 1);
  Statement put(database, "INSERT INTO sample VALUES (1, 1, 5, 0, 0, ?)");
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity()})
    EXPECT_THROW(static_cast<void>(put.bind(bad).insert()), Error) << bad;
  EXPECT_TRUE(put.bind(std::numeric_limits<double>::max()).insert());
}

// Two versions after the one that this build writes.
const int now = current_schema().version;
const Migration add_note[] = {{now, "ALTER TABLE run ADD COLUMN note TEXT NOT NULL DEFAULT ''"},
                              {now + 1,
                               "UPDATE run SET note = 'migrated ' || scenario FROM series"
                               " WHERE series.id = run.series"}};
const Schema later{.version = now + 2, .create = schema_sql, .migrations = add_note};

std::string copy_of(const std::string& path) { return path + ".v" + std::to_string(now); }

TEST_F(SchemaTest, AnOlderFileIsMigratedStepByStepWithACopyBesideIt) {
  Store(path).start_run(header_of("vit"));
  const std::string before = content_of(path);
  Store(path, {.schema = later});
  Database database(path, Database::Mode::read, 1);
  EXPECT_EQ(database.integer("PRAGMA user_version"), now + 2);
  EXPECT_EQ(database.text("SELECT note FROM run"), "migrated vit");
  Database copy(copy_of(path), Database::Mode::read, 1);
  EXPECT_EQ(copy.integer("PRAGMA user_version"), now);
  EXPECT_EQ(copy.integer("SELECT count(*) FROM run"), 1);
}

TEST_F(SchemaTest, ACopyThatExistsIsKept) {
  std::ofstream(copy_of(path)) << "precious";
  Store(path).start_run(header_of("vit"));
  Store(path, {.schema = later});
  EXPECT_EQ(content_of(copy_of(path)), "precious");
  EXPECT_TRUE(std::filesystem::exists(copy_of(path) + ".2"));
}

TEST_F(SchemaTest, AMigratedFileIsNotMigratedAgain) {
  Store(path).start_run(header_of("vit"));
  Store(path, {.schema = later});
  const std::string before = content_of(path);
  Store(path, {.schema = later});
  EXPECT_EQ(content_of(path), before);
  EXPECT_FALSE(std::filesystem::exists(copy_of(path) + ".2"));
}

TEST_F(SchemaTest, AMigrationThatFailsChangesNothing) {
  const Migration broken[] = {{now, "ALTER TABLE run ADD COLUMN note TEXT; DELETE FROM nothing"}};
  Store(path).start_run(header_of("vit"));
  const std::string before = content_of(path);
  EXPECT_THROW(
      Store(path, {.schema = {.version = now + 1, .create = schema_sql, .migrations = broken}}),
      Error);
  EXPECT_EQ(content_of(path), before);
  EXPECT_EQ(Store(path).start_run(header_of("vit")).value, 2);
}

TEST_F(SchemaTest, AMigrationThatOrphansRowsIsUndone) {
  const Migration orphans[] = {{now, "DELETE FROM series"}};
  Store(path).start_run(header_of("vit"));
  const std::string before = content_of(path);
  const Error error = error_of([&] {
    Store(path, {.schema = {.version = now + 1, .create = schema_sql, .migrations = orphans}});
  });
  EXPECT_EQ(error.fault(), Fault::internal);
  EXPECT_EQ(content_of(path), before);
}

TEST_F(SchemaTest, AVersionWithoutAWayForwardIsRefused) {
  Store(path).start_run(header_of("vit"));
  Database(path, Database::Mode::write, 1).execute("PRAGMA user_version = 0");
  const std::string before = content_of(path);
  const Error error = error_of([&] { Store store(path); });
  EXPECT_EQ(error.fault(), Fault::external);
  EXPECT_TRUE(contains(error.what(), "has no way from 0 to 1")) << error.what();
  EXPECT_EQ(content_of(path), before);
}

TEST_F(SchemaTest, ANewerVersionIsRefusedWithBothNumbers) {
  Store(path).start_run(header_of("vit"));
  Database(path, Database::Mode::write, 1).execute("PRAGMA user_version = 70");
  const std::string before = content_of(path);
  const Error error = error_of([&] { Store store(path); });
  EXPECT_EQ(error.fault(), Fault::external);
  EXPECT_TRUE(contains(error.what(), path + ": has schema version 70, this shardlab knows up to " +
                                         std::to_string(now)))
      << error.what();
  EXPECT_EQ(content_of(path), before);
}

// What version 1 was: the tables of today without those that came later.
TEST_F(SchemaTest, AFileOfVersion1GetsTheTablesOfToday) {
  const std::string tables =
      "SELECT group_concat(line, char(10)) FROM (SELECT t.name || '.' || c.name || ' ' || c.type ||"
      " ' ' || c.[notnull] || ' ' || c.pk AS line FROM pragma_table_list AS t"
      " JOIN pragma_table_info(t.name) AS c WHERE t.type = 'table' AND t.schema = 'main'"
      " ORDER BY t.name, c.cid)";
  Store(path).start_run(header_of("vit"));
  std::string today;
  {
    Database database(path, Database::Mode::write, 1);
    today = database.text(tables.c_str());
    database.execute("DROP TABLE mark; PRAGMA user_version = 1");
    EXPECT_NE(database.text(tables.c_str()), today);
  }
  EXPECT_EQ(list_runs(open_for_reading(path)).size(), 1U);
  const Store store(path);
  Database database(path, Database::Mode::read, 1);
  EXPECT_EQ(database.text(tables.c_str()), today);
  EXPECT_EQ(database.integer("SELECT count(*) FROM run"), 1);
  EXPECT_TRUE(std::filesystem::exists(path + ".v1"));
}

}  // namespace
}  // namespace shardlab::results
