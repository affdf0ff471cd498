#pragma once

#include "engine/sim/nccl_log.h"
#include "results/imported.h"

namespace shardlab {

/// Runs of a log of nccl-tests, text or JSON: one a size. A collective is the scenario, its bytes
/// and operation the parameters; what looks wrong is noted, and rows with wrong values have failed.
///
/// Errors   Error{invalid} naming file and line of a table whose number of ranks nobody says.
[[nodiscard]] results::Imported read_nccl_import(const sim::NcclLog& log,
                                                 const results::ImportOptions& options);

/// Whether a text may be a log of nccl-tests.
[[nodiscard]] bool may_be_nccl_log(std::string_view text);

}  // namespace shardlab
