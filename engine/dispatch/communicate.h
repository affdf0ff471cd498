#pragma once

#include <functional>

#include "engine/dispatch/worker.h"

namespace shardlab {

/// What a communication moves, for the trace.
struct Moved {
  const char* name = "";
  AxisList axes;
  Spec spec;                      ///< The whole tensor.
  std::int64_t payload_bytes = 0; ///< Of the call as a whole, the same on all ranks where even.
  std::int32_t relative_peer = 0; ///< Exchange: distance to the receiver.
};

/// A started call of a communicator.
struct Communication {
  Communicator* communicator = nullptr;
  Pending pending;
  Step wait;
};

/// Starts a call on the communicator along `moved.axes` and notes it in the trace.
[[nodiscard]] Communication start_communication(
    Worker& worker, const Moved& moved, const std::function<Pending(Communicator&)>& start);

/// Waits for a call and notes the wait.
void finish_communication(Worker& worker, Communication& communication);

}  // namespace shardlab
