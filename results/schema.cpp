#include "results/schema.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>

#include "engine/core/check.h"

namespace shardlab::results {
namespace {

const Migration* migration_from(const Schema& schema, std::int64_t version) {
  const auto found = std::ranges::find(schema.migrations, version, &Migration::from);
  return found == schema.migrations.end() ? nullptr : &*found;
}

std::string free_backup_name(const std::string& path, std::int64_t version) {
  const std::string first = fmt::format("{}.v{}", path, version);
  std::string name = first;
  for (int i = 2; std::filesystem::exists(name); ++i) name = fmt::format("{}.{}", first, i);
  return name;
}

void migrate(Database& database, const Schema& schema) {
  for (auto version = database.integer("PRAGMA user_version"); version < schema.version;
       ++version) {
    const Migration* migration = migration_from(schema, version);
    expect(migration != nullptr, "no migration from schema version {}", version);
    database.execute(migration->sql);
    database.execute(fmt::format("PRAGMA user_version = {}", version + 1).c_str());
  }
  Statement broken(database, "PRAGMA foreign_key_check");
  expect(!broken.step(), "{}: the migration to schema version {} leaves rows without their parent",
         database.path(), schema.version);
}

constexpr std::array<Migration, 1> migrations = {
    {{1,
      "CREATE TABLE mark (series INTEGER NOT NULL REFERENCES series (id),"
      " metric INTEGER NOT NULL REFERENCES metric (id),"
      " commit_id TEXT NOT NULL CHECK (commit_id <> ''), note TEXT NOT NULL,"
      " created TEXT NOT NULL, PRIMARY KEY (series, metric, commit_id)) STRICT, WITHOUT ROWID"}}};

}  // namespace

Schema current_schema() { return {.version = 2, .create = schema_sql, .migrations = migrations}; }

SchemaState inspect(Database& database, const Schema& schema) {
  const auto application = database.integer("PRAGMA application_id");
  const auto version = database.integer("PRAGMA user_version");
  if (application != application_id) {
    if (application == 0 && version == 0 &&
        database.integer("SELECT count(*) FROM sqlite_schema") == 0)
      return SchemaState::empty;
    fail(Fault::external, "{}: a SQLite database, but not one of shardlab; give another with --db",
         database.path());
  }
  if (version == schema.version) return SchemaState::current;
  if (version > schema.version)
    fail(Fault::external,
         "{}: has schema version {}, this shardlab knows up to {}; use a newer shardlab or give "
         "another file with --db",
         database.path(), version, schema.version);
  for (auto from = version; from < schema.version; ++from) {
    if (!migration_from(schema, from))
      fail(Fault::external,
           "{}: has schema version {}, this shardlab writes {} and has no way from {} to {}; use "
           "the shardlab that wrote it or give another file with --db",
           database.path(), version, schema.version, from, from + 1);
  }
  return SchemaState::older;
}

void bring_up_to_date(Database& database, const Schema& schema, bool keep_backup) {
  Transaction transaction(database, Transaction::Kind::write);
  switch (inspect(database, schema)) {
    case SchemaState::current:
      return;
    case SchemaState::empty:
      database.execute(schema.create);
      break;
    case SchemaState::older:
      if (keep_backup) {
        // A second connection: SQLite copies nothing from the one that holds the writer's lock.
        const Database before(database.path(), Database::Mode::read, 60);
        before.back_up(free_backup_name(database.path(), database.integer("PRAGMA user_version")));
      }
      migrate(database, schema);
      break;
  }
  transaction.commit();
}

}  // namespace shardlab::results
