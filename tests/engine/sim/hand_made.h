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

  /// Begins a turn of ring 0, or with -1 ends it.
  TraceWriter& turn(int number) {
    trace_->turn(0, number);
    return *this;
  }

  [[nodiscard]] const Trace* get() const { return trace_.get(); }

 private:
  static std::shared_ptr<Trace> kept() {
    auto trace = std::make_shared<Trace>();
    trace->keep(true);
    return trace;
  }

  std::shared_ptr<Trace> trace_ = kept();
};

/// Traces that outlive their simulation, every step for itself.
class Programs {
 public:
  explicit Programs(const std::vector<const Trace*>& traces) {
    for (const Trace* trace : traces) folded_.emplace_back(*trace);
  }
  [[nodiscard]] std::vector<RankProgram> get() const {
    std::vector<RankProgram> programs;
    for (const FoldedTrace& trace : folded_) programs.push_back({&trace, nullptr});
    return programs;
  }

 private:
  std::vector<FoldedTrace> folded_;
};

/// Prices as written in the trace; wires of the network cost `network` times as much.
class WrittenPrices : public Prices {
 public:
  double issue_seconds = 0;
  double network = 1;
  double latency = 0;  ///< More, before the bytes move.
  double beside = 1;
  bool host = false;
  Progress how = Progress::beside;

  [[nodiscard]] double issue(const Step&) const override { return issue_seconds; }
  [[nodiscard]] bool host_computes() const override { return host; }
  [[nodiscard]] double kernel(const Step& step) const override {
    return static_cast<double>(step.flop);
  }
  [[nodiscard]] CallPrice communication(const Step& start, const Place& place) const override {
    const bool far = place.wire == Wire::network;
    return {latency, static_cast<double>(start.bytes) * (far ? network : 1), !far, far};
  }
  [[nodiscard]] Progress progress(const Step&) const override { return how; }
  [[nodiscard]] double beside_communication() const override { return beside; }
};

}  // namespace shardlab::sim
