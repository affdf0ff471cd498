#pragma once

#include <string>
#include <vector>

#include "tools/request.h"

namespace shardlab {

/// What was typed behind `shardlab calibrate`.
struct CalibrateOptions {
  std::string machine;            ///< Name or file of the machine that the logs are of.
  std::vector<std::string> from;  ///< Logs of nccl-tests: FILE[@RANKS[xHOSTS][:COLLECTIVE]].
  std::string output;             ///< Machine file to write; empty: none.
  bool shared = false;            ///< Of other machines with the same wires, not of this one.
  bool json = false;
};

/// Prints predictions beside logs, before and after correction, and writes a machine that extends
/// the one given by what the logs say.
///
/// Errors   Error{invalid} naming file, line and reason for a log that shows a fault;
///          Error{external} for files that cannot be read or written.
Exit calibrate_verb(const CalibrateOptions& options);

}  // namespace shardlab
