#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "results/schema.h"

namespace shardlab::results {

/// A database open for reading; query.h and scaling.h ask it.
class Reader {
 public:
  /// What had to be done first, for stderr; empty if the file itself is read.
  [[nodiscard]] const std::string& notice() const noexcept { return notice_; }

  [[nodiscard]] Database& database() const noexcept { return *database_; }

 private:
  friend Reader open_for_reading(const std::string& path, const OpenOptions& options);

  Reader() = default;

  std::shared_ptr<const std::filesystem::path> folder_;  // of the copy that is read, if any
  std::unique_ptr<Database> database_;
  std::string notice_;
};

/// Opens a database without ever changing its file or its folder.
///
/// Where a killed writer left a journal, or the file is of an older schema or empty, a copy in the
/// temporary folder is recovered, migrated or created and read instead.
///
/// Errors   external, naming the file: missing, no database of shardlab, damaged, of a newer
///          schema, or no room for the copy.
[[nodiscard]] Reader open_for_reading(const std::string& path, const OpenOptions& options = {});

}  // namespace shardlab::results
