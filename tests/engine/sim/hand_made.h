#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/sim/simulate.h"

namespace shardlab::sim {

/// Traces written down by hand. A kernel's flop is its price in seconds; a call's bytes are its.
class TraceWriter {
 public:
  TraceWriter& kernel(std::int64_t seconds) {
    Step step;
    step.op = "kernel";
    step.flop = seconds;
    trace_->append(step);
    return *this;
  }

  TraceWriter& start(const AxisList& axes, std::int64_t seconds, std::int32_t relative_peer = 0) {
    Step step;
    step.kind = Step::Kind::start;
    step.op = relative_peer == 0 ? "all_reduce" : "exchange";
    step.lane.kind = Lane::Kind::comm;
    step.axes = axes;
    step.bytes = seconds;
    step.relative_peer = relative_peer;
    step.sequence = trace_->next_call(axes);
    trace_->append(step);
    return *this;
  }

  TraceWriter& wait(const AxisList& axes, std::uint64_t sequence) {
    Step step;
    step.kind = Step::Kind::wait;
    step.op = "wait";
    step.axes = axes;
    step.sequence = sequence;
    trace_->append(step);
    return *this;
  }

  [[nodiscard]] const Trace* get() const { return trace_.get(); }

 private:
  std::shared_ptr<Trace> trace_ = std::make_shared<Trace>();
};

/// Prices as written in the trace; wires of the network cost `network` times as much.
class WrittenPrices : public Prices {
 public:
  double issue_seconds = 0;
  double network = 1;
  double beside = 1;
  bool host = false;
  Progress how = Progress::beside;

  [[nodiscard]] double issue(const Step&) const override { return issue_seconds; }
  [[nodiscard]] bool host_computes() const override { return host; }
  [[nodiscard]] double kernel(const Step& step) const override {
    return static_cast<double>(step.flop);
  }
  [[nodiscard]] double communication(const Step& start, const Place& place) const override {
    return static_cast<double>(start.bytes) * (place.wire == Wire::network ? network : 1);
  }
  [[nodiscard]] Progress progress(const Step&) const override { return how; }
  [[nodiscard]] double beside_communication() const override { return beside; }
};

}  // namespace shardlab::sim
