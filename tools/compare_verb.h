#pragma once

#include <string>
#include <vector>

#include "results/comparison.h"
#include "tools/request.h"

namespace shardlab {

/// What was typed behind `compare`.
struct CompareVerbOptions {
  std::vector<std::string> sides;     ///< Base and new.
  std::vector<std::string> commands;  ///< Of --ab: A and B.
  int pairs = 20;
  std::vector<std::string> keep;  ///< Files for what --ab measured of A and of B; none: dropped.
  bool confirm = false;
  results::ComparisonOptions options;
  std::string database = "shardlab.sqlite";
  bool json = false;
  std::string markdown;  ///< Files for other programs; empty: none.
  std::string junit;
  bool annotations = false;
};

/// Holds two sides against each other and says what is worse.
Exit compare_verb(const CompareVerbOptions& typed);

/// What a comparison means for the exit code.
[[nodiscard]] Exit exit_of(const results::Comparison& comparison);

}  // namespace shardlab
