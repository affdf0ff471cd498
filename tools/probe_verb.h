#pragma once

#include <string>

#include "tools/request.h"

namespace shardlab {

/// What was typed behind `shardlab probe`.
struct ProbeVerbOptions {
  std::string output;  ///< Machine file to write; empty: stored instead.
  std::string database = "shardlab.sqlite";
  std::string command_line;
  double point_seconds = 0.25;  ///< Spent on each size of each kernel and collective.
  bool json = false;
};

/// Measures this machine and writes it as a machine file, or stores it as `this-cpu`.
///
/// Errors   Error{external} if the file cannot be written.
Exit probe_verb(const ProbeVerbOptions& options);

}  // namespace shardlab
