#include "results/open_for_writing.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "engine/core/check.h"

namespace shardlab::results {
namespace {

// Found at the first write otherwise, with a text that blames the database.
void check_folder(const std::string& path) {
  std::error_code error;
  const auto folder = std::filesystem::weakly_canonical(path, error).parent_path();
  if (!error && faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
    fail(Fault::external, "{}: cannot be written: SQLite keeps a journal in its folder {}: {}",
         path, folder.string(), std::strerror(errno));
}

}  // namespace

Database open_for_writing(const std::string& path, const OpenOptions& options) {
  Database database(path, Database::Mode::create, options.busy_seconds);
  check_folder(path);
  // The mode stays in the file, so that somebody's write-ahead log would outlive this process.
  if (const auto mode = database.text("PRAGMA journal_mode = DELETE"); mode != "delete")
    fail(Fault::external, "{}: another program keeps it in journal mode {}", path, mode);
  bring_up_to_date(database, options.schema, true);
  database.execute("PRAGMA foreign_keys = ON");
  return database;
}

}  // namespace shardlab::results
