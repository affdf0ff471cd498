#pragma once

#include "tools/reproduce.h"
#include "tools/request.h"

namespace shardlab {

/// The embedded rows of this name.
///
/// Errors   Error{invalid} naming the nearest known one.
[[nodiscard]] results::PublishedRows published_named(const std::string& name);

/// Published numbers beside predictions calibrated on the rows marked so; names of files of
/// results/published, or `all`.
Exit reproduce_verb(const Scenarios& scenarios, const Request& request);

}  // namespace shardlab
