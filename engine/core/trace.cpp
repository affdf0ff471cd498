#include "engine/core/trace.h"

#include <chrono>

#include "engine/core/check.h"

namespace shardlab {

void Trace::clear() {
  steps_.clear();
  turns_.clear();
  calls_.clear();
  totals_ = {};
}

std::uint64_t Trace::next_call(const AxisList& axes) {
  for (auto& [known, calls] : calls_)
    if (known == axes) return ++calls;
  calls_.emplace_back(axes, 1);
  return 1;
}

void Trace::enter(std::string_view name) {
  if (!keep_) {
    open_.push_back(nullptr);
    return;
  }
  const std::string* outer = current_scope(*this);
  std::string whole = outer == nullptr ? std::string(name) : fmt::format("{}.{}", *outer, name);
  for (const std::string& scope : scopes_)
    if (scope == whole) {
      open_.push_back(&scope);
      return;
    }
  open_.push_back(&scopes_.emplace_back(std::move(whole)));
}

void Trace::leave() { open_.pop_back(); }

double Trace::now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

const std::string* current_scope(const Trace& trace) {
  return trace.open_.empty() ? nullptr : trace.open_.back();
}

std::string to_text(const Trace& trace) {
  std::string text;
  for (const Step& step : trace.steps()) {
    const char* kind = "";
    if (step.kind == Step::Kind::look) kind = "look ";
    if (step.kind == Step::Kind::start) kind = "start ";
    if (step.kind == Step::Kind::wait) kind = "wait ";
    // Lanes of communicators are numbered as they are opened; the axes name them better.
    const bool comm = step.lane.kind == Lane::Kind::comm;
    text += fmt::format("{} {}{} {}", comm ? "comm" : to_string(step.lane), kind, step.op,
                        name_of(step.dtype));
    if (step.kind != Step::Kind::wait)
      text += fmt::format(" {}", step.layout == nullptr ? "local " + to_string(step.shape)
                                                        : to_string(*step.layout, step.shape));
    text += fmt::format(" local {}", to_string(step.local));
    if (step.layout != nullptr && !step.axes.empty())
      text += fmt::format(" over {} #{}", names_of(step.layout->mesh(), step.axes), step.sequence);
    if (step.relative_peer != 0) text += fmt::format(" to {:+}", step.relative_peer);
    if (step.flop != 0) text += fmt::format(" flop {}", step.flop);
    if (step.bytes != 0) text += fmt::format(" bytes {}", step.bytes);
    text += fmt::format(" live {}", step.live_bytes);
    if (step.scope != nullptr) text += fmt::format(" in {}", *step.scope);
    text += '\n';
  }
  return text;
}

}  // namespace shardlab
