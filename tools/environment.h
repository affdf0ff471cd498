#pragma once

#include <string>

#include "results/series.h"

namespace shardlab {

/// The processor of this machine as it names itself.
[[nodiscard]] std::string processor_name();

/// What runs of this process are measured on.
[[nodiscard]] results::EnvironmentKey this_environment();

/// Allow-listed environment variables that change how runs behave, as a JSON object.
[[nodiscard]] std::string this_variables();

}  // namespace shardlab
