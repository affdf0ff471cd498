#pragma once

#include <string>
#include <vector>

#include "tools/request.h"

namespace shardlab {

struct ExportVerbOptions {
  std::vector<std::string> runs;  ///< Numbers or uuids; none: all.
  std::string database = "shardlab.sqlite";
  std::string csv;   ///< File; `-` is standard output.
  std::string json;  ///< The same.
};

/// Writes runs for spreadsheets, data frames and other databases.
///
/// Errors   Error{invalid} if no file is named or it is the database; Error{external} naming the
///          file if it cannot be written, which then is as it was.
Exit export_verb(const ExportVerbOptions& options);

}  // namespace shardlab
