#pragma once

#include <optional>
#include <string>

#include "results/run.h"
#include "tools/measure.h"
#include "tools/request.h"

namespace shardlab {

/// Parameters as series name them: those at their unwritten value are left out.
[[nodiscard]] std::string parameters_json(const Scenario& scenario, const Params& params);

/// What is known of a run before it starts.
[[nodiscard]] results::RunHeader header_of(const Case& tested, const std::string& execution,
                                           const Request& request);

/// The samples of a measurement: times of every iteration and rank, exact quantities of one
/// iteration, the loss of every step.
[[nodiscard]] results::Rows rows_of(const Measurement& measurement);

/// The traced iteration of every rank; lanes of communicators are named by their axes, and the
/// detail of a start or a wait ends in its call, ` over data+domain #3`.
[[nodiscard]] results::Timeline timeline_of(const Measurement& measurement, const Mesh& mesh);

/// A call as its stored steps name it.
struct StoredCall {
  std::string axes;
  std::uint64_t number = 0;  ///< On the communicator of these axes, from 1.
};

/// The call of a stored start or wait, unless it was stored before calls were named.
[[nodiscard]] std::optional<StoredCall> call_of(const results::Step& step);

}  // namespace shardlab
