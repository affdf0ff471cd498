#pragma once

#include "tools/request.h"

namespace shardlab {

/// Where the time of stored runs, or of published rows, goes; `at` picks rows of so many ranks.
Exit explain_verb(const Scenarios& scenarios, const Request& request, int at);

}  // namespace shardlab
