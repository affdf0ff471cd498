#pragma once

#include <string>
#include <vector>

#include "tools/request.h"

namespace shardlab {

/// What was typed behind `shardlab calibrate`.
struct CalibrateOptions {
  std::string machine;            ///< Name or file of the machine that the logs are of.
  std::vector<std::string> from;  ///< Logs of nccl-tests: FILE[@RANKS[xHOSTS][:COLLECTIVE]]; or
                                  ///< one database of runs; or one topology.
  std::vector<std::string> runs;  ///< Of the database; empty: all that can be used.
  std::string output;             ///< Machine file to write; empty: none.
  bool shared = false;            ///< Of other machines with the same wires, not of this one.
  bool json = false;
};

/// Prints predictions beside logs or measured runs, before and after correction, or wires beside a
/// topology, and writes a machine that extends the one given by what they say.
///
/// Errors   Error{invalid} naming file, line and reason for a log that shows a fault;
///          Error{unsupported} for a database without runs that correct the machine;
///          Error{external} for files that cannot be read or written.
Exit calibrate_verb(const CalibrateOptions& options);

}  // namespace shardlab
