#include "results/database.h"

#include <sqlite3.h>

#include <cstring>
#include <filesystem>
#include <new>
#include <utility>

#include "engine/core/check.h"

namespace shardlab::results {
namespace {

// A path as given could be ":memory:", which means something else to SQLite.
std::string absolute(const std::string& path) {
  check(!path.empty(), "database: the path is empty");
  check(path.find('\0') == std::string::npos, "database: the path contains a zero byte");
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  if (error) fail(Fault::external, "{}: no absolute path: {}", path, error.message());
  return absolute.string();
}

int flags_of(Database::Mode mode) {
  switch (mode) {
    case Database::Mode::read:
      return SQLITE_OPEN_READONLY;
    case Database::Mode::write:
      return SQLITE_OPEN_READWRITE;
    case Database::Mode::create:
      break;
  }
  return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
}

}  // namespace

void Database::Close::operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }

Database::Database(const std::string& path, Mode mode, double busy_seconds)
    : path_(path), busy_seconds_(busy_seconds) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    fail(Fault::external, "{}: the database cannot be opened: it is a folder", path);
  sqlite3* connection = nullptr;
  const int code = sqlite3_open_v2(absolute(path).c_str(), &connection, flags_of(mode), nullptr);
  connection_.reset(connection);
  if (!connection) throw std::bad_alloc();
  if (code != SQLITE_OK) raise(code);
  sqlite3_extended_result_codes(connection, 1);
  sqlite3_busy_timeout(connection, static_cast<int>(busy_seconds * 1000));
  execute("PRAGMA trusted_schema = OFF");
}

void Database::execute(const char* sql) {
  const int code = sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) raise(code);
}

std::int64_t Database::integer(const char* sql) {
  Statement statement(*this, sql);
  expect(statement.step(), "no row: {}", sql);
  return statement.integer(0);
}

std::string Database::text(const char* sql) {
  Statement statement(*this, sql);
  expect(statement.step(), "no row: {}", sql);
  return statement.text(0);
}

bool Database::has_hot_journal() {
  const int code = sqlite3_exec(connection_.get(), "SELECT count(*) FROM sqlite_schema", nullptr,
                                nullptr, nullptr);
  if (code == SQLITE_READONLY_ROLLBACK) return true;
  if (code != SQLITE_OK) raise(code);
  return false;
}

void Database::back_up(const std::string& path) const {
  Database copy(path, Mode::create, busy_seconds_);
  int code = SQLITE_BUSY;
  {
    const auto finish = [](sqlite3_backup* backup) { sqlite3_backup_finish(backup); };
    const std::unique_ptr<sqlite3_backup, decltype(finish)> backup(
        sqlite3_backup_init(copy.connection_.get(), "main", connection_.get(), "main"), finish);
    if (!backup) copy.raise(sqlite3_extended_errcode(copy.connection_.get()));
    for (double waited = 0; waited <= busy_seconds_; waited += 0.05) {
      code = sqlite3_backup_step(backup.get(), -1);
      if (code != SQLITE_BUSY && code != SQLITE_LOCKED) break;
      sqlite3_sleep(50);
    }
  }
  if (code == SQLITE_DONE) return;
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED) raise(code);
  copy.raise(code);
}

std::int64_t Database::last_id() const { return sqlite3_last_insert_rowid(connection_.get()); }

std::int64_t Database::changed_rows() const { return sqlite3_changes64(connection_.get()); }

bool Database::in_transaction() const { return sqlite3_get_autocommit(connection_.get()) == 0; }

void Database::raise(int code) const {
  const char* message = sqlite3_errmsg(connection_.get());
  const int system_error = sqlite3_system_errno(connection_.get());
  const char* cause = system_error != 0 ? std::strerror(system_error) : message;
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      fail(Fault::external, "{}: not a SQLite database; give another file with --db", path_);
    case SQLITE_CORRUPT:
      fail(Fault::external,
           "{}: the database is damaged ({}); `sqlite3 FILE .recover` saves what can be read",
           path_, message);
    case SQLITE_READONLY:
      fail(Fault::external, "{}: cannot be written: the file or its folder is read-only", path_);
    case SQLITE_FULL:
      fail(Fault::external,
           "{}: the disk is full; the unfinished transaction is undone, what was stored before is "
           "kept",
           path_);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      fail(Fault::external, "{}: another process has kept the database locked for {} s", path_,
           busy_seconds_);
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      fail(Fault::external, "{}: the database cannot be opened: {}", path_, cause);
    case SQLITE_IOERR:
      fail(
          Fault::external,
          "{}: reading or writing failed: {}; an unfinished transaction is undone, what was stored "
          "before is kept",
          path_, cause);
    case SQLITE_NOMEM:
      throw std::bad_alloc();
    case SQLITE_ERROR:
      fail(Fault::external, "{}: its tables are not those of a shardlab database: {}", path_,
           message);
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_MISUSE:
    case SQLITE_RANGE:
      fail(Fault::internal, "{}: {} (SQLite code {})", path_, message, code);
    default:
      fail(Fault::external, "{}: {} (SQLite code {})", path_, message, code);
  }
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(database.connection_.get(), sql.data(),
                                      static_cast<int>(sql.size()), &statement, nullptr);
  statement_.reset(statement);
  if (code != SQLITE_OK) database.raise(code);
}

Statement& Statement::bind_columns(const Statement& from) {
  reset();
  for (int i = 0; i < sqlite3_column_count(from.statement_.get()); ++i)
    if (const int code = sqlite3_bind_value(statement_.get(), i + 1,
                                            sqlite3_column_value(from.statement_.get(), i));
        code != SQLITE_OK)
      database_.raise(code);
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) database_.raise(code);
  return false;
}

bool Statement::insert() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_CONSTRAINT_PRIMARYKEY || code == SQLITE_CONSTRAINT_UNIQUE) return false;
  if (code != SQLITE_DONE) database_.raise(code);
  return true;
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string Statement::text(int column) const {
  const auto* bytes = sqlite3_column_text(statement_.get(), column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return bytes ? std::string(reinterpret_cast<const char*>(bytes), size) : std::string();
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

void Statement::bind_integer(int index, std::int64_t value) {
  if (const int code = sqlite3_bind_int64(statement_.get(), index, value); code != SQLITE_OK)
    database_.raise(code);
}

void Statement::bind_one(int index, double value) {
  if (const int code = sqlite3_bind_double(statement_.get(), index, value); code != SQLITE_OK)
    database_.raise(code);
}

void Statement::bind_one(int index, std::string_view value) {
  const int code = sqlite3_bind_text64(statement_.get(), index, value.data() ? value.data() : "",
                                       value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  if (code != SQLITE_OK) database_.raise(code);
}

Transaction::Transaction(Database& database, Kind kind)
    : database_(database), open_(kind == Kind::write || !database.in_transaction()) {
  if (open_) database_.execute(kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
  // SQLite itself has undone the transaction after some failures, a full disk among them.
  if (open_ && database_.in_transaction()) {
    try {
      database_.execute("ROLLBACK");
    } catch (...) {
      // The failure that brought us here is the one to report; the journal undoes the rest.
    }
  }
}

void Transaction::commit() {
  if (!open_) return;
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace shardlab::results
