#include "engine/sim/peer_ring.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "engine/core/check.h"
#include "engine/sim/communicator_key.h"

namespace shardlab::sim {
namespace {

bool is_kernel(const Step& step, const char* op) {
  return step.kind == Step::Kind::kernel && std::strcmp(step.op, op) == 0;
}

bool is_exchange(const Step& step) {
  return step.kind == Step::Kind::start && step.relative_peer != 0;
}

class Rewriter {
 public:
  Rewriter(const RingStyle& style, const Trace& trace) : style_(style), steps_(trace.steps()) {}

  Trace run() {
    for (const Step& step : steps_) {
      switch (step.kind) {
        case Step::Kind::start:
          start(step);
          break;
        case Step::Kind::wait:
          wait(step);
          break;
        default:
          compute(step);
      }
      if (step.kind != Step::Kind::look) before_ = &step;
    }
    return std::move(result_);
  }

 private:
  using Call = std::pair<std::uint64_t, std::uint64_t>;  ///< Axes, number.

  /// The numbers of the messages that a call became.
  struct Messages {
    std::uint64_t first = 0;
    int count = 1;
  };

  void start(const Step& step) {
    const bool pair = is_exchange(step);
    calls_[{communicator_key(step.axes), step.sequence}] = send(step, pair ? style_.messages : 1);
  }

  Messages send(Step step, int count) {
    step.bytes /= count;
    Messages messages{0, count};
    for (int m = 0; m < count; ++m) {
      step.sequence = ++numbers_[communicator_key(step.axes)];
      if (m == 0) messages.first = step.sequence;
      result_.append(step);
    }
    return messages;
  }

  void wait(const Step& step) {
    const auto found = calls_.find({communicator_key(step.axes), step.sequence});
    expect(found != calls_.end(), "a wait for call {} that was never started", step.sequence);
    await(step, found->second);
    waited_ = &step;
  }

  void await(Step step, Messages messages) {
    for (int m = 0; m < messages.count; ++m) {
      step.sequence = messages.first + static_cast<std::uint64_t>(m);
      result_.append(step);
    }
  }

  void compute(const Step& step) {
    const bool forward = is_kernel(step, "attention");
    const bool block = forward || is_kernel(step, "attention_gradient");
    if (is_kernel(step, "attention_merge")) {
      if (style_.each.kernels > 0)
        merge(step, style_.each);
      else
        result_.append(step);
      if (last_block_) end_forward(step);
      return;
    }
    const bool goes_on = block && before_ != nullptr && is_exchange(*before_);
    if (goes_on && round_ == nullptr) convert(*before_);
    result_.append(step);
    if (!block) return;
    if (goes_on) {
      if (round_ == nullptr && forward) merge(step, style_.first);
      round_ = before_;
      return;
    }
    // A block without a pair on its way is the last of a ring, or stands in none.
    if (round_ == nullptr) return;
    last_block_ = forward;
    if (!forward) go_round();
  }

  void end_forward(const Step& step) {
    last_block_ = false;
    merge(step, style_.last);
    go_round();
  }

  /// What is sent after the last block, for nothing.
  void go_round() {
    if (style_.returns) {
      const Messages messages = send(*round_, style_.messages);
      Step waiting = *waited_;
      waiting.axes = round_->axes;
      await(waiting, messages);
    }
    round_ = nullptr;
  }

  void convert(const Step& start) {
    Step look = start;
    look.kind = Step::Kind::look;
    look.op = "to_local";
    look.relative_peer = 0;
    look.bytes = 0;
    for (int c = 0; c < style_.conversions; ++c) result_.append(look);
  }

  /// The kernels of one merge, on the block of queries that `step` made.
  void merge(Step step, const MergeStyle& style) {
    const auto block = static_cast<double>(step.local.count() * width_of(step.dtype));
    step.op = "attention_merge";
    step.flop = 0;
    for (int k = 0; k < style.kernels; ++k) {
      step.bytes = static_cast<std::int64_t>(block * style.passes / style.kernels);
      result_.append(step);
    }
    // A log-sum-exp has one number where the block has a row.
    const int ndim = step.local.ndim();
    const std::int64_t row = ndim > 0 ? std::max<std::int64_t>(1, step.local[ndim - 1]) : 1;
    for (int k = 0; k < style.small_kernels; ++k) {
      step.bytes = static_cast<std::int64_t>(3 * block) / row;
      result_.append(step);
    }
  }

  const RingStyle& style_;
  const std::vector<Step>& steps_;
  Trace result_;
  std::map<std::uint64_t, std::uint64_t> numbers_;  ///< Of the last call over some axes.
  std::map<Call, Messages> calls_;
  const Step* before_ = nullptr;
  const Step* round_ = nullptr;   ///< The last pair that was passed on in the ring under way.
  const Step* waited_ = nullptr;  ///< A wait of that ring.
  bool last_block_ = false;
};

}  // namespace

Trace as_run_by(const Profile& profile, const Trace& trace) {
  return Rewriter(profile.ring, trace).run();
}

}  // namespace shardlab::sim
