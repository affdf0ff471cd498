#include "results/schema.h"

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
  EXPECT_EQ(count, 10);
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

constexpr Migration add_note[] = {{1, "ALTER TABLE run ADD COLUMN note TEXT NOT NULL DEFAULT ''"},
                                  {2,
                                   "UPDATE run SET note = 'migrated ' || scenario FROM series"
                                   " WHERE series.id = run.series"}};
const Schema version_3{.version = 3, .create = schema_sql, .migrations = add_note};

TEST_F(SchemaTest, AnOlderFileIsMigratedStepByStepWithACopyBesideIt) {
  Store(path).start_run(header_of("vit"));
  const std::string before = content_of(path);
  Store(path, {.schema = version_3});
  Database database(path, Database::Mode::read, 1);
  EXPECT_EQ(database.integer("PRAGMA user_version"), 3);
  EXPECT_EQ(database.text("SELECT note FROM run"), "migrated vit");
  Database copy(path + ".v1", Database::Mode::read, 1);
  EXPECT_EQ(copy.integer("PRAGMA user_version"), 1);
  EXPECT_EQ(copy.integer("SELECT count(*) FROM run"), 1);
}

TEST_F(SchemaTest, ACopyThatExistsIsKept) {
  std::ofstream(path + ".v1") << "precious";
  Store(path).start_run(header_of("vit"));
  Store(path, {.schema = version_3});
  EXPECT_EQ(content_of(path + ".v1"), "precious");
  EXPECT_TRUE(std::filesystem::exists(path + ".v1.2"));
}

TEST_F(SchemaTest, AMigratedFileIsNotMigratedAgain) {
  Store(path).start_run(header_of("vit"));
  Store(path, {.schema = version_3});
  const std::string before = content_of(path);
  Store(path, {.schema = version_3});
  EXPECT_EQ(content_of(path), before);
  EXPECT_FALSE(std::filesystem::exists(path + ".v1.2"));
}

TEST_F(SchemaTest, AMigrationThatFailsChangesNothing) {
  constexpr Migration broken[] = {{1, "ALTER TABLE run ADD COLUMN note TEXT; DELETE FROM nothing"}};
  Store(path).start_run(header_of("vit"));
  const std::string before = content_of(path);
  EXPECT_THROW(Store(path, {.schema = {.version = 2, .create = schema_sql, .migrations = broken}}),
               Error);
  EXPECT_EQ(content_of(path), before);
  EXPECT_EQ(Store(path).start_run(header_of("vit")).value, 2);
}

TEST_F(SchemaTest, AMigrationThatOrphansRowsIsUndone) {
  constexpr Migration orphans[] = {{1, "DELETE FROM series"}};
  Store(path).start_run(header_of("vit"));
  const std::string before = content_of(path);
  const Error error = error_of([&] {
    Store(path, {.schema = {.version = 2, .create = schema_sql, .migrations = orphans}});
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
  Database(path, Database::Mode::write, 1).execute("PRAGMA user_version = 7");
  const std::string before = content_of(path);
  const Error error = error_of([&] { Store store(path); });
  EXPECT_EQ(error.fault(), Fault::external);
  EXPECT_TRUE(contains(error.what(), path + ": has schema version 7, this shardlab knows up to 1"))
      << error.what();
  EXPECT_EQ(content_of(path), before);
}

}  // namespace
}  // namespace shardlab::results
