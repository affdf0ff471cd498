#pragma once

#include <string>

#include "engine/sim/machine.h"
#include "tools/calibrate_verb.h"

namespace shardlab {

/// Whether a text is what `nvidia-smi topo -m` prints or a topology file of NCCL.
[[nodiscard]] bool is_topology(const std::string& text);

/// Prints what a topology says of the wires beside what the machine says.
///
/// Returns  The numbers and words in which they differ.
/// Errors   Error{invalid} naming file, line and fault.
[[nodiscard]] sim::Machine calibrate_by_topology(const CalibrateOptions& options,
                                                 const sim::Machine& machine,
                                                 const std::string& text);

}  // namespace shardlab
