#pragma once

#include <cstdint>
#include <vector>

#include "engine/sim/folded_trace.h"
#include "engine/sim/prices.h"

namespace shardlab::sim {

/// The prices of a trace, asked for once: ranks that take a step in thousands share them.
class PricedTrace {
 public:
  struct Entry {
    Step::Kind kind = Step::Kind::kernel;
    int lane = 0;            ///< Start and wait: number of the communicator among all.
    int meeting = 0;         ///< Start: number among those of the trace.
    std::uint64_t back = 0;  ///< Wait: calls that its communicator has started since.
    double issue = 0;
    double kernel = 0;
    Progress progress = Progress::beside;
  };

  /// `lanes` holds the communicators of all traces and grows.
  PricedTrace(const FoldedTrace& trace, const Prices& prices, std::vector<AxisList>& lanes);

  [[nodiscard]] const FoldedTrace& trace() const { return trace_; }
  [[nodiscard]] const Entry& operator[](std::uint32_t step) const { return entries_[step]; }

  /// Of the start at `step` by ranks that meet at `place`.
  [[nodiscard]] const CallPrice& call(std::uint32_t step, const Place& place);

 private:
  struct CallsAt {
    Place place;
    std::vector<CallPrice> prices;  ///< A negative latency: not asked for yet.
  };

  const FoldedTrace& trace_;
  const Prices& prices_;
  std::vector<Entry> entries_;
  std::vector<CallsAt> calls_;
};

}  // namespace shardlab::sim
