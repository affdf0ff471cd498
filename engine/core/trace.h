#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/backend.h"
#include "engine/core/layout.h"

namespace shardlab {

/// One thing a rank did: a kernel, a look at memory, a started communication or a wait for one.
struct Step {
  enum class Kind : std::uint8_t { kernel, look, start, wait } kind = Kind::kernel;
  Lane lane;
  Dtype dtype = Dtype::float32;
  const char* op = "";
  const std::string* scope = nullptr;  ///< Part of the model; owned by the trace.
  Shape shape;                         ///< Whole shape of output 0, or of what is moved.
  const Layout* layout = nullptr;
  Shape local;
  std::int64_t flop = 0;
  std::int64_t bytes = 0;          ///< Kernel: read and written. Start: payload of the call.
  std::int64_t live_bytes = 0;     ///< Engine bytes after the step.
  AxisList axes;                   ///< Start and wait: of the communicator.
  std::int32_t relative_peer = 0;  ///< Exchange: distance to the first receiver, else 0.
  std::uint64_t sequence = 0;  ///< Start and wait: number of the call on its communicator, from 1.
  double begin_seconds = 0;
  double end_seconds = 0;
};

/// Sums over all steps since the last clear, kept whether or not steps are.
struct Totals {
  std::int64_t dispatches = 0;
  std::int64_t flop = 0;
  std::int64_t collectives = 0;
  std::int64_t bytes_received = 0;
};

/// Where a turn of a ring begins in a trace.
struct Turn {
  std::size_t step = 0;     ///< Its first step.
  std::int32_t ring = 0;    ///< As numbered by `Answers::log_turns`.
  std::int32_t number = 0;  ///< From 0; -1: the ring is over.
};

/// The steps of one rank in program order.
class Trace {
 public:
  Trace() = default;
  // Steps point at the names of their scopes, which stay where they are in a move only.
  Trace(Trace&&) = default;
  Trace& operator=(Trace&&) = default;

  /// Whether steps are kept and timed; totals always are.
  void keep(bool on) { keep_ = on; }
  [[nodiscard]] bool keeping() const { return keep_; }

  void append(const Step& step) { steps_.push_back(step); }
  void clear();

  /// Hands out the steps; names of scopes stay.
  [[nodiscard]] std::vector<Step> take_steps() { return std::exchange(steps_, {}); }

  /// Notes that the next step begins turn `number` of a ring, or with -1 that the ring is over.
  void turn(int ring, int number) {
    if (keep_) turns_.push_back({steps_.size(), ring, number});
  }
  [[nodiscard]] const std::vector<Turn>& turns() const { return turns_; }

  /// Number of the next call over these axes since the last clear, from 1.
  [[nodiscard]] std::uint64_t next_call(const AxisList& axes);

  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  [[nodiscard]] Totals& totals() { return totals_; }
  [[nodiscard]] const Totals& totals() const { return totals_; }

  /// Names a part of the model until `leave`.
  void enter(std::string_view name);
  void leave();

  /// Opened with the trace's own clock; the same for all ranks of a process.
  [[nodiscard]] static double now_seconds();

 private:
  bool keep_ = false;
  std::vector<Step> steps_;
  std::vector<Turn> turns_;
  Totals totals_;
  std::deque<std::string> scopes_;
  std::vector<const std::string*> open_;
  std::vector<std::pair<AxisList, std::uint64_t>> calls_;

  friend class Scope;
  friend const std::string* current_scope(const Trace& trace);
};

[[nodiscard]] const std::string* current_scope(const Trace& trace);

/// Names a part of the model while it lives.
class Scope {
 public:
  Scope(Trace& trace, std::string_view name) : trace_(trace) { trace_.enter(name); }
  ~Scope() { trace_.leave(); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Trace& trace_;
};

/// One line a step without times, the same for equal programs on any machine: golden traces.
[[nodiscard]] std::string to_text(const Trace& trace);

}  // namespace shardlab
