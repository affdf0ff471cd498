#pragma once

#include <string>
#include <string_view>

#include "results/run.h"

namespace shardlab::results {

/// A JSON object with sorted keys and no spaces: equal objects give equal texts.
///
/// Errors   invalid, starting with `what`: no JSON, no object, or a key twice.
[[nodiscard]] std::string canonical_json(std::string_view text, const char* what);

/// A run with everything but its timeline, for programs.
///
/// Bytes that are no UTF-8 become the replacement character; what is not finite becomes null,
/// and parameters, variables and state that are no JSON become text.
[[nodiscard]] std::string to_json(const StoredRun& run);

}  // namespace shardlab::results
