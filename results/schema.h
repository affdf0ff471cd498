#pragma once

#include <span>

#include "results/database.h"

namespace shardlab::results {

/// The text of schema.sql, made into a source file by the build.
extern const char* const schema_sql;

/// What `PRAGMA application_id` of a shardlab database says.
inline constexpr std::int64_t application_id = 1397247042;

/// Statements that lead from schema version `from` to the next one; they never touch user_version.
struct Migration {
  int from;
  const char* sql;
};

/// A schema version, how a new file gets it and how older files reach it.
struct Schema {
  int version;
  const char* create;  ///< Sets application_id and user_version too.
  std::span<const Migration> migrations;
};

/// The schema that this build writes.
[[nodiscard]] Schema current_schema();

/// How a database is opened; tests give a schema of their own.
struct OpenOptions {
  Schema schema = current_schema();
  double busy_seconds = 60;  ///< How long a lock of another process is waited for.
};

/// What a file is, seen from a schema.
enum class SchemaState { empty, older, current };

/// Looks at a file without changing it.
///
/// Errors   external: of another program, newer than `schema`, or too old for its migrations.
[[nodiscard]] SchemaState inspect(Database& database, const Schema& schema);

/// Creates or migrates in one transaction, so that a file is never between two versions.
///
/// An older file is first copied beside itself, to `FILE.v1` for version 1; an existing copy is
/// kept and the next free name of `FILE.v1.2`, `FILE.v1.3` ... is taken.
///
/// Errors   As inspect.
void bring_up_to_date(Database& database, const Schema& schema, bool keep_backup);

}  // namespace shardlab::results
