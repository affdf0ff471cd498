#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "engine/dispatch/worker.h"

namespace shardlab {

/// What a communication moves, for the trace.
struct Moved {
  const char* name = "";
  AxisList axes;
  Spec spec;                       ///< The whole tensor.
  std::int64_t payload_bytes = 0;  ///< Of the call as a whole, the same on all ranks where even.
  std::int32_t relative_peer = 0;  ///< Exchange: distance to the receiver.
};

/// A started call of a communicator; an error that unwinds past its wait gives it up.
class Communication {
 public:
  Communication() = default;
  Communication(Communicator& communicator, Pending pending)
      : communicator_(&communicator), pending_(pending) {}
  Communication(Communication&& other) noexcept
      : communicator_(std::exchange(other.communicator_, nullptr)),
        pending_(other.pending_),
        wait_(other.wait_) {}
  Communication& operator=(Communication&& other) noexcept {
    std::swap(communicator_, other.communicator_);
    std::swap(pending_, other.pending_);
    std::swap(wait_, other.wait_);
    return *this;
  }
  ~Communication() {
    if (communicator_ != nullptr) communicator_->withdraw();
  }

 private:
  friend Communication start_communication(Worker& worker, const Moved& moved,
                                           const std::function<Pending(Communicator&)>& start);
  friend void finish_communication(Worker& worker, Communication& communication);

  Communicator* communicator_ = nullptr;
  Pending pending_;
  std::optional<Step> wait_;
};

/// Starts a call on the communicator along `moved.axes` and notes it in the trace.
[[nodiscard]] Communication start_communication(Worker& worker, const Moved& moved,
                                                const std::function<Pending(Communicator&)>& start);

/// Waits for a call and notes the wait.
void finish_communication(Worker& worker, Communication& communication);

}  // namespace shardlab
