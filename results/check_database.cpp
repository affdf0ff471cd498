#include "results/check_database.h"

#include <algorithm>

#include "engine/core/check.h"
#include "results/reader.h"
#include "results/series.h"
#include "results/temporary_folder.h"

namespace shardlab::results {
namespace {

using Texts = std::vector<std::string>;

void find_damage(Database& database, Texts& problems) {
  Statement rows(database, "PRAGMA integrity_check(10)");
  while (rows.step())
    if (const std::string text = rows.text(0); text != "ok") problems.push_back("damaged: " + text);
}

void find_orphans(Database& database, Texts& problems) {
  Statement rows(database,
                 "SELECT \"table\", parent, count(*) FROM pragma_foreign_key_check"
                 " GROUP BY 1, 2");
  while (rows.step())
    problems.push_back(fmt::format("table {}: {} rows point to a {} that is not there",
                                   rows.text(0), rows.integer(2), rows.text(1)));
}

std::vector<TableShape> tables_of(const Schema& schema) {
  const auto folder = temporary_folder();
  Database fresh((*folder / "schema").string(), Database::Mode::create, 1);
  fresh.execute("PRAGMA synchronous = OFF");
  Transaction transaction(fresh, Transaction::Kind::write);
  fresh.execute(schema.create);
  return tables_of(fresh);
}

void find_other_schema(Database& database, const std::vector<TableShape>& expected,
                       Texts& problems) {
  const std::vector<TableShape> found = tables_of(database);
  for (const TableShape& table : expected) {
    const auto same = std::find_if(found.begin(), found.end(),
                                   [&](const TableShape& each) { return each.name == table.name; });
    if (same == found.end()) {
      problems.push_back(fmt::format("table {} is missing", table.name));
      continue;
    }
    for (const std::string& column : table.columns)
      if (same->place(column) == 0)
        problems.push_back(fmt::format("table {}: column {} is missing", table.name, column));
  }
}

void find_not_finite(Database& database, Texts& problems) {
  for (const TableShape& table : tables_of(database))
    for (const std::string& column : table.real_columns) {
      if (table.name == "tensor_check") continue;  // an error may be infinite
      Statement count(database,
                      fmt::format("SELECT count(*) FROM {} WHERE abs({}) > 1.7976931348623157e308",
                                  table.name, column));
      count.step();
      if (count.integer(0) > 0)
        problems.push_back(fmt::format("table {}: {} values of {} are not finite", table.name,
                                       count.integer(0), column));
    }
}

void find_bad_series(Database& database, Texts& problems) {
  Statement rows(database,
                 "SELECT id, scenario, parameters, dtype, train, mesh, execution, machine, profile,"
                 " ranks FROM series");
  while (rows.step()) {
    try {
      const SeriesKey key{.scenario = rows.text(1),
                          .parameters = rows.text(2),
                          .dtype = rows.text(3),
                          .train = rows.integer(4) != 0,
                          .mesh = rows.text(5),
                          .execution = execution_from(rows.text(6)),
                          .machine = rows.text(7),
                          .profile = rows.text(8)};
      if (!(canonical(key) == key))
        problems.push_back(fmt::format("series {}: its parameters are not in canonical form: {}",
                                       rows.integer(0), key.parameters));
      if (ranks_of(key.mesh) != rows.integer(9))
        problems.push_back(fmt::format("series {}: mesh {} is not of {} ranks", rows.integer(0),
                                       key.mesh, rows.integer(9)));
    } catch (const Error& error) {
      problems.push_back(fmt::format("series {}: {}", rows.integer(0), error.what()));
    }
  }
}

void find_bad_environments(Database& database, Texts& problems) {
  Statement rows(database, "SELECT id, hash, fields FROM environment");
  while (rows.step()) {
    try {
      const std::string hash = hash_of(environment_from(rows.text(2)));
      if (hash != rows.text(1))
        problems.push_back(fmt::format("environment {}: its hash is {}, stored is {}",
                                       rows.integer(0), hash, rows.text(1)));
    } catch (const Error& error) {
      problems.push_back(fmt::format("environment {}: {}", rows.integer(0), error.what()));
    }
  }
}

void remark(Database& database, const char* sql, const char* what, Texts& remarks) {
  if (const std::int64_t count = database.integer(sql); count > 0)
    remarks.push_back(fmt::format("{} {}", count, what));
}

}  // namespace

std::vector<std::string> problems_of(Database& database, const std::vector<TableShape>& expected) {
  Texts problems;
  try {
    find_other_schema(database, expected, problems);
    if (!problems.empty()) return problems;  // what follows asks these tables
    find_damage(database, problems);
    find_orphans(database, problems);
    find_not_finite(database, problems);
    find_bad_series(database, problems);
    find_bad_environments(database, problems);
  } catch (const Error& error) {
    if (error.fault() != Fault::external) throw;
    problems.emplace_back(error.what());
  }
  return problems;
}

DatabaseCheck check_database(const std::string& path, const OpenOptions& options) {
  DatabaseCheck found;
  const Reader reader = open_for_reading(path, options);
  Database file(path, Database::Mode::read, options.busy_seconds);
  // Where a killed writer left a journal the file itself cannot be read.
  found.version =
      (file.has_hot_journal() ? reader.database() : file).integer("PRAGMA user_version");
  if (!reader.notice().empty()) found.remarks.push_back(reader.notice());
  // SQLite looks at CHECK constraints only through connections that may write, hence a copy.
  const auto folder = temporary_folder();
  const std::string copy = (*folder / "copy").string();
  reader.database().back_up(copy);
  Database database(copy, Database::Mode::write, options.busy_seconds);
  found.problems = problems_of(database, tables_of(options.schema));
  if (!found.problems.empty()) return found;
  found.runs = database.integer("SELECT count(*) FROM run");
  found.series = database.integer("SELECT count(*) FROM series");
  found.samples = database.integer("SELECT count(*) FROM sample");
  remark(database, "SELECT count(*) FROM run WHERE status = 'running'",
         "runs are running or were interrupted", found.remarks);
  remark(database,
         "SELECT count(*) FROM run WHERE status = 'complete' AND layouts = ''"
         " AND NOT EXISTS (SELECT 1 FROM sample WHERE run = run.id)"
         " AND NOT EXISTS (SELECT 1 FROM step WHERE run = run.id)",
         "complete runs hold nothing", found.remarks);
  remark(database,
         "SELECT count(*) FROM sample WHERE value < 0"
         " AND metric IN (SELECT id FROM metric WHERE unit = 's')",
         "times are below zero", found.remarks);
  remark(database, "SELECT count(*) FROM series WHERE id NOT IN (SELECT series FROM run)",
         "series have no run", found.remarks);
  remark(database, "SELECT count(*) FROM environment WHERE id NOT IN (SELECT environment FROM run)",
         "environments have no run", found.remarks);
  return found;
}

}  // namespace shardlab::results
