#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace shardlab::results {

/// One connection to a SQLite file; used by one thread at a time.
///
/// Errors   external, naming the file: missing, damaged, foreign, locked, read-only, disk full.
class Database {
 public:
  enum class Mode { read, write, create };

  /// Opens a file; `busy_seconds` is how long a lock of another process is waited for.
  Database(const std::string& path, Mode mode, double busy_seconds);

  /// Runs statements that give no rows.
  void execute(const char* sql);

  /// The first column of the first row of a query, such as a pragma.
  [[nodiscard]] std::int64_t integer(const char* sql);
  [[nodiscard]] std::string text(const char* sql);

  /// True if a killed writer left a journal that a read-only connection cannot roll back.
  [[nodiscard]] bool has_hot_journal();

  /// Copies the committed content into the file at `path`, which is created.
  void back_up(const std::string& path) const;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Messages name this file from now on, which the open one is a copy of.
  void stand_for(const std::string& path) { path_ = path; }

  [[nodiscard]] std::int64_t last_id() const;
  [[nodiscard]] std::int64_t changed_rows() const;
  [[nodiscard]] bool in_transaction() const;

  /// Throws the Error that a SQLite result code of this connection means.
  [[noreturn]] void raise(int code) const;

 private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3* connection) const;
  };

  std::string path_;
  double busy_seconds_;
  std::unique_ptr<sqlite3, Close> connection_;
};

/// A prepared statement.
///
/// Example  Statement get(db, "SELECT name FROM metric WHERE id = ?");
///          if (get.bind(7).step()) use(get.text(0));
class Statement {
 public:
  Statement(Database& database, std::string_view sql);

  /// Starts over with these values for the question marks, in order.
  template <typename... Values>
  Statement& bind(const Values&... values) {
    reset();
    int index = 0;
    (bind_one(++index, values), ...);
    return *this;
  }

  /// Starts over with the columns of the row that another statement is at, in order.
  Statement& bind_columns(const Statement& from);

  /// Puts another value for one question mark, counted from 1, before the first step.
  Statement& rebind(int index, std::int64_t value) {
    bind_integer(index, value);
    return *this;
  }

  /// Goes to the next row; false at the end.
  bool step();

  /// Runs an insertion; false if its key exists already.
  [[nodiscard]] bool insert();

  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };

  void reset();  // to no values
  void bind_integer(int index, std::int64_t value);
  void bind_one(int index, std::integral auto value) {
    bind_integer(index, static_cast<std::int64_t>(value));
  }
  void bind_one(int index, double value);
  void bind_one(int index, std::string_view value);
  template <typename T>
  void bind_one(int index, const std::optional<T>& value) {
    if (value) bind_one(index, *value);  // a parameter that is not bound is NULL
  }

  Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// A transaction that is undone unless committed.
///
/// A write transaction takes the writer's lock at once, because SQLite refuses without waiting when
/// a transaction that has begun by reading wants it later. A read transaction inside another one
/// does nothing.
class Transaction {
 public:
  enum class Kind { read, write };

  Transaction(Database& database, Kind kind);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit();

 private:
  Database& database_;
  bool open_;
};

}  // namespace shardlab::results
