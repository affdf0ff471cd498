#pragma once

#include <string>
#include <vector>

#include "tools/request.h"

namespace shardlab {

/// What was typed behind `history`.
struct HistoryOptions {
  std::string metric;
  std::string scenario;
  std::string mesh;
  std::vector<std::string> where;  ///< `FIELD=VALUE` of the series.
  std::string database = "shardlab.sqlite";
  std::string accept;
  std::string reopen;
  std::string note;
  std::string order = "git";
  double floor = 0.02;  ///< A shift of a time below this part is small.
  bool ascii = false;
  bool all = false;
  bool json = false;
};

Exit history_verb(const HistoryOptions& options);

}  // namespace shardlab
