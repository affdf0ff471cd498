#include "results/merge.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "engine/core/check.h"
#include "results/check_database.h"
#include "results/open_for_writing.h"
#include "results/reader.h"
#include "results/tables.h"

namespace shardlab::results {
namespace {

using Ids = std::unordered_map<std::int64_t, std::int64_t>;

std::string listed(const std::vector<std::string>& columns, const char* between,
                   const char* after = "") {
  std::string text;
  for (const std::string& column : columns) text += (text.empty() ? "" : between) + column + after;
  return text;
}

std::string insertion(const TableShape& table) {
  std::string marks;
  for (std::size_t i = 0; i < table.columns.size(); ++i) marks += i == 0 ? "?" : ", ?";
  return fmt::format("INSERT INTO {} ({}) VALUES ({})", table.name, listed(table.columns, ", "),
                     marks);
}

std::string selection(const TableShape& table, const char* where) {
  return fmt::format("SELECT {} FROM {} WHERE {}", listed(table.columns, ", "), table.name, where);
}

/// Copies one file into a database inside the caller's transaction.
class Merger {
 public:
  Merger(Database& from, Database& into, const std::vector<TableShape>& tables, MergedFile& file)
      : from_(from), into_(into), tables_(tables), file_(file) {}

  void copy() {
    Statement runs(from_, "SELECT id, uuid, status FROM run ORDER BY id");
    while (runs.step()) {
      ++file_.runs;
      take_run(runs.integer(0), runs.text(1), runs.text(2) == "running");
    }
    for (const TableShape& table : tables_)
      if (table.name != "run" && table.parents.count("run") == 0 && !is_parent(table.name))
        copy_loose(table);
  }

 private:
  [[nodiscard]] bool is_parent(const std::string& name) const {
    return std::any_of(tables_.begin(), tables_.end(), [&](const TableShape& table) {
      return std::any_of(table.parents.begin(), table.parents.end(),
                         [&](const auto& parent) { return parent.second == name; });
    });
  }

  [[nodiscard]] const TableShape& table(const std::string& name) const {
    const auto found = std::find_if(tables_.begin(), tables_.end(),
                                    [&](const TableShape& each) { return each.name == name; });
    expect(found != tables_.end(), "no table {}", name);
    return *found;
  }

  void take_run(std::int64_t id, const std::string& uuid, bool unfinished) {
    Statement known(into_, "SELECT id, status FROM run WHERE uuid = ?");
    if (known.bind(uuid).step()) {
      const std::int64_t stored = known.integer(0);
      const bool stored_unfinished = known.text(1) == "running";
      const std::int64_t rows = rows_of(from_, id);
      const std::int64_t stored_rows = rows_of(into_, stored);
      if (!stored_unfinished && !unfinished && rows != stored_rows)
        fail(Fault::external,
             "{}: run {} is there already with {} rows, here it has {}: one of the two was changed",
             file_.path, uuid, stored_rows, rows);
      const bool newer = stored_unfinished && (!unfinished || rows > stored_rows);
      if (!newer) return;
      remove_run(stored);
      ++file_.replaced;
    } else {
      ++file_.added;
    }
    copy_run(id);
  }

  [[nodiscard]] std::int64_t rows_of(Database& database, std::int64_t run) const {
    std::int64_t rows = 0;
    for (const TableShape& table : tables_) {
      if (table.parents.count("run") == 0) continue;
      Statement count(database, fmt::format("SELECT count(*) FROM {} WHERE run = ?", table.name));
      count.bind(run).step();
      rows += count.integer(0);
    }
    return rows;
  }

  void remove_run(std::int64_t run) {
    for (const TableShape& table : tables_)
      if (table.parents.count("run") != 0)
        Statement(into_, fmt::format("DELETE FROM {} WHERE run = ?", table.name)).bind(run).step();
    Statement(into_, "DELETE FROM run WHERE id = ?").bind(run).step();
  }

  void copy_run(std::int64_t id) {
    const TableShape& run = table("run");
    Statement get(from_, selection(run, "id = ?"));
    expect(get.bind(id).step(), "{}: no run {}", file_.path, id);
    Statement put(into_, insertion(run));
    insert(put.bind_columns(get), run, get);
    const std::int64_t copied = into_.last_id();
    for (const TableShape& child : tables_) {
      const int place = child.place("run");
      if (child.parents.count("run") == 0) continue;
      const std::string order = child.key.empty() ? "rowid" : listed(child.key, ", ");
      Statement rows(from_, selection(child, "run = ? ORDER BY ") + order);
      Statement add(into_, insertion(child));
      for (rows.bind(id); rows.step();)
        insert(add.bind_columns(rows).rebind(place, copied), child, rows);
    }
  }

  /// Makes what points into other tables point to their rows in the database.
  void point(Statement& put, const TableShape& table, const Statement& row) {
    for (const auto& [column, parent] : table.parents) {
      const int place = table.place(column);
      if (parent != "run" && !row.is_null(place - 1))
        put.rebind(place, id_of(parent, row.integer(place - 1)));
    }
  }

  void insert(Statement& put, const TableShape& table, const Statement& row) {
    point(put, table, row);
    expect(put.insert(), "{}: a row of {} is there already", file_.path, table.name);
  }

  /// The id that a row of the file has, or gets, in the database.
  std::int64_t id_of(const std::string& parent, std::int64_t id) {
    Ids& ids = ids_[parent];
    if (const auto found = ids.find(id); found != ids.end()) return found->second;
    const TableShape& shape = table(parent);
    Statement get(from_, selection(shape, "id = ?"));
    if (!get.bind(id).step())
      fail(Fault::external, "{}: {} {} is not there, and rows point to it", file_.path, parent, id);
    return ids[id] = intern(shape, get);
  }

  std::int64_t intern(const TableShape& shape, const Statement& row) {
    Statement(into_, insertion(shape) + " ON CONFLICT DO NOTHING").bind_columns(row).step();
    Statement find(into_, fmt::format("SELECT id FROM {} WHERE {}", shape.name,
                                      listed(shape.columns, " AND ", " IS ?")));
    if (!find.bind_columns(row).step())
      fail(Fault::external, "{}: its {} '{}' is stored with another meaning than there", file_.path,
           shape.name, row.text(0));
    return find.integer(0);
  }

  /// Rows that belong to no run, such as marks: those that are not there yet.
  void copy_loose(const TableShape& shape) {
    const std::string order = shape.key.empty() ? "rowid" : listed(shape.key, ", ");
    Statement rows(from_, selection(shape, "true ORDER BY ") + order);
    Statement find(into_, fmt::format("SELECT 1 FROM {} WHERE {}", shape.name,
                                      listed(shape.columns, " AND ", " IS ?")));
    Statement add(into_, insertion(shape) + " ON CONFLICT DO NOTHING");
    while (rows.step()) {
      find.bind_columns(rows);
      point(find, shape, rows);
      if (find.step()) continue;
      add.bind_columns(rows);
      point(add, shape, rows);
      add.step();
    }
  }

  Database& from_;
  Database& into_;
  const std::vector<TableShape>& tables_;
  MergedFile& file_;
  std::map<std::string, Ids> ids_;
};

void copy_file(Database& into, const std::vector<TableShape>& tables, MergedFile& file,
               const OpenOptions& options) {
  const Reader reader = open_for_reading(file.path, options);
  file.notice = reader.notice();
  Database& from = reader.database();
  const Transaction transaction(from, Transaction::Kind::read);
  const std::vector<std::string> problems = problems_of(from, tables);
  if (!problems.empty())
    fail(Fault::external, "{}: {}; `shardlab db check` says more", file.path, problems[0]);
  try {
    Merger(from, into, tables, file).copy();
  } catch (const Error& error) {
    // A row that a constraint refuses was not written by shardlab.
    if (error.fault() != Fault::internal) throw;
    fail(Fault::external, "{}: a row cannot be stored: {}", file.path, error.what());
  }
}

}  // namespace

std::vector<MergedFile> merge(const std::string& into, const std::vector<std::string>& files,
                              const OpenOptions& options) {
  namespace fs = std::filesystem;
  check(!files.empty(), "{}: no files to merge into it", into);
  std::error_code ignored;
  for (const std::string& file : files)
    check(!fs::equivalent(into, file, ignored), "{}: to merge into itself", file);
  const bool is_new = !fs::exists(into, ignored);
  std::vector<MergedFile> merged;
  try {
    Database database = open_for_writing(into, options);
    // What is copied points where it is made to point: it is not looked up again.
    database.execute("PRAGMA foreign_keys = OFF");
    Transaction transaction(database, Transaction::Kind::write);
    const std::vector<TableShape> tables = tables_of(database);
    for (const std::string& file : files) {
      merged.push_back({.path = file});
      copy_file(database, tables, merged.back(), options);
    }
    transaction.commit();
  } catch (...) {
    if (is_new) fs::remove(into, ignored);
    throw;
  }
  return merged;
}

}  // namespace shardlab::results
