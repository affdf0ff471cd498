#pragma once

#include <string>

#include "engine/launch/launch.h"

namespace shardlab {

/// Rank threads on the cores of this machine.
[[nodiscard]] Execution cpu_execution();

/// Shapes and bytes only, one rank after another.
[[nodiscard]] Execution meta_execution();

/// The execution that `--on` names.
///
/// Errors   Error{invalid} naming the known ones; Error{unsupported} for one that is not built.
[[nodiscard]] Execution execution_named(const std::string& name);

}  // namespace shardlab
