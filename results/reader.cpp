#include "results/reader.h"

#include <sys/stat.h>

#include <array>
#include <optional>
#include <utility>

#include "engine/core/check.h"
#include "results/temporary_folder.h"

namespace shardlab::results {
namespace {

namespace fs = std::filesystem;

// Changes whenever somebody writes, replaces or removes the file.
using Stamp = std::array<std::int64_t, 4>;

Stamp stamp_of(const fs::path& file) {
  struct stat s {};
  if (stat(file.c_str(), &s) != 0) return {};
  return {static_cast<std::int64_t>(s.st_ino), s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec};
}

// Copies a database and its journal byte for byte; false if somebody wrote meanwhile.
bool copy_with_journal(const fs::path& from, const fs::path& to) {
  const auto journal = [](const fs::path& file) { return fs::path(file.string() + "-journal"); };
  const auto stamps = [&] { return std::pair(stamp_of(from), stamp_of(journal(from))); };
  const auto before = stamps();
  std::error_code error;
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  if (!error)
    fs::copy_file(journal(from), journal(to), fs::copy_options::overwrite_existing, error);
  if (stamps() != before) return false;
  if (error)
    fail(Fault::external, "{}: copying the database and its journal to {} failed: {}",
         from.string(), to.parent_path().string(), error.message());
  return true;
}

}  // namespace

Reader open_for_reading(const std::string& path, const OpenOptions& options) {
  std::error_code error;
  const fs::path file = fs::canonical(path, error);
  if (error) fail(Fault::external, "{}: the database cannot be opened: {}", path, error.message());

  Reader reader;
  const auto copy_named = [&](const char* name) {
    if (!reader.folder_) reader.folder_ = temporary_folder();
    return *reader.folder_ / name;
  };
  const auto open_copy = [&](const fs::path& copy) {
    auto opened =
        std::make_unique<Database>(copy.string(), Database::Mode::create, options.busy_seconds);
    opened->stand_for(path);
    return opened;
  };

  auto database = std::make_unique<Database>(path, Database::Mode::read, options.busy_seconds);
  constexpr int attempts = 100;
  for (int i = 0; database->has_hot_journal(); ++i) {
    if (i == attempts)
      fail(Fault::external, "{}: has been written to during each of {} attempts to copy it", path,
           attempts);
    // Reading bytes behind SQLite's back drops this process's locks on the file, which is harmless:
    // while the journal is hot nobody holds one.
    const fs::path copy = copy_named("recovered");
    if (!copy_with_journal(file, copy)) continue;
    database = open_copy(copy);
    reader.notice_ = fmt::format(
        "{}: a writer was killed in the middle of a transaction; read from a copy in which it is "
        "undone (the next run stored in this file undoes it there)",
        path);
  }

  const SchemaState state = inspect(*database, options.schema);
  if (state != SchemaState::current) {
    if (reader.notice_.empty()) {
      const fs::path copy = copy_named("migrated");
      database->back_up(copy.string());
      database = open_copy(copy);
    }
    const auto found = database->integer("PRAGMA user_version");
    bring_up_to_date(*database, options.schema, false);
    if (!reader.notice_.empty()) reader.notice_ += '\n';
    reader.notice_ +=
        state == SchemaState::empty
            ? fmt::format("{}: is empty", path)
            : fmt::format("{}: has schema version {}; read from a copy that was migrated to {}",
                          path, found, options.schema.version);
  }
  database->execute("PRAGMA query_only = ON");
  reader.database_ = std::move(database);
  return reader;
}

}  // namespace shardlab::results
