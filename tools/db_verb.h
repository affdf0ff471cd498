#pragma once

#include <string>
#include <vector>

#include "tools/request.h"

namespace shardlab {

struct DbVerbOptions {
  std::string action;              ///< merge, check or schema.
  std::vector<std::string> files;  ///< Of merge the first is written.
  bool json = false;
};

/// Merges databases, checks them, or prints the schema.
///
/// Errors   Error{invalid} naming the nearest action; Error{external} naming the file.
Exit db_verb(const DbVerbOptions& options);

}  // namespace shardlab
