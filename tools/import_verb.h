#pragma once

#include <string>
#include <vector>

#include "results/imported.h"
#include "tools/request.h"

namespace shardlab {

struct ImportVerbOptions {
  std::vector<std::string> files;
  std::string database = "shardlab.sqlite";
  results::ImportOptions says;
  std::string command_line;
  bool json = false;
};

/// Stores the rows of other programs' files as runs, all files or none; not_comparable where they
/// hold no run.
///
/// Errors   Error{invalid} naming file, line and fault; of a file that nothing recognises the
///          formats that are known. Error{external} if a file cannot be read.
Exit import_verb(const ImportVerbOptions& options);

}  // namespace shardlab
