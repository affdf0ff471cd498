#pragma once

#include <string>

#include "engine/sim/machine.h"
#include "tools/probe.h"

namespace shardlab {

/// Stores a probe as a run of the scenario `probe`, its machine file being the run's layouts.
void store_probe(const Probed& probed, const std::string& database, const std::string& command);

/// The newest probe of this machine: of the same processor and as many cores.
///
/// Errors   Error{unsupported} naming the command that makes one, if there is none.
[[nodiscard]] sim::Machine newest_probe(const std::string& database);

}  // namespace shardlab
