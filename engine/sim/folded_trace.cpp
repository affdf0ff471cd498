#include "engine/sim/folded_trace.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "engine/core/check.h"
#include "engine/sim/communicator_key.h"

namespace shardlab::sim {
namespace {

/// Steps whose calls are counted from where they stand.
std::vector<Step> relative_steps(const Trace& trace) {
  std::vector<Step> steps = trace.steps();
  std::vector<std::pair<AxisList, std::uint64_t>> started;
  for (Step& step : steps) {
    if (step.kind != Step::Kind::start && step.kind != Step::Kind::wait) continue;
    auto found = std::find_if(started.begin(), started.end(),
                              [&](const auto& each) { return each.first == step.axes; });
    if (found == started.end()) found = started.insert(found, {step.axes, 0});
    if (step.kind == Step::Kind::start) {
      ++found->second;
      step.sequence = 0;
      continue;
    }
    check(step.sequence >= 1 && step.sequence <= found->second,
          "simulate: wait for call {} over {} axes that never started", step.sequence,
          step.axes.size());
    step.sequence = found->second - step.sequence;
  }
  return steps;
}

bool alike(const Step& a, const Step& b) {
  return a.kind == b.kind && a.lane == b.lane && a.dtype == b.dtype &&
         std::strcmp(a.op, b.op) == 0 && a.scope == b.scope && a.shape == b.shape &&
         a.layout == b.layout && a.local == b.local && a.flop == b.flop && a.bytes == b.bytes &&
         a.live_bytes == b.live_bytes && a.axes == b.axes && a.relative_peer == b.relative_peer &&
         a.sequence == b.sequence;
}

}  // namespace

TurnKinds::TurnKinds(const Answers& answers, const Coordinates& at)
    : rings_(static_cast<std::size_t>(answers.rings())) {
  for (int ring = 0; ring < answers.rings(); ++ring)
    for (const std::uint64_t answer : answers.turns(ring, at))
      rings_[ring].emplace(answer, static_cast<std::uint32_t>(rings_[ring].size()));
}

TurnOrders TurnKinds::orders(const Answers& answers, const Coordinates& at) const {
  TurnOrders orders(rings_.size());
  for (std::size_t ring = 0; ring < rings_.size(); ++ring)
    for (const std::uint64_t answer : answers.turns(static_cast<int>(ring), at))
      orders[ring].push_back(rings_[ring].at(answer));
  return orders;
}

FoldedTrace::FoldedTrace(const Trace& trace, const TurnOrders& orders) {
  const std::vector<Step> relative = relative_steps(trace);
  check(relative.size() < std::numeric_limits<std::uint32_t>::max(), "simulate: {} steps",
        relative.size());
  length_ = relative.size();
  const auto stretch = [&](std::size_t from, std::size_t to) {
    return std::span<const Step>(relative).subspan(from, to - from);
  };
  const auto plain = [&](std::size_t from, std::size_t to) {
    if (from == to) return;
    keep(stretch(from, to), parts_.emplace_back().kinds.emplace_back());
  };
  std::size_t done = 0;
  const std::vector<Turn>& turns = trace.turns();
  for (std::size_t t = 0; t < turns.size() && !orders.empty(); ++t) {
    const Turn& turn = turns[t];
    if (turn.number < 0) continue;
    const std::vector<std::uint32_t>& order = orders[turn.ring];
    const std::size_t end = t + 1 < turns.size() ? turns[t + 1].step : relative.size();
    if (turn.number == 0) {
      plain(done, turn.step);
      parts_.emplace_back().ring = turn.ring;
      parts_.back().kinds.resize(1 + *std::max_element(order.begin(), order.end()));
    }
    keep(stretch(turn.step, end), parts_.back().kinds[order[turn.number]]);
    done = end;
  }
  plain(done, relative.size());
}

void FoldedTrace::keep(std::span<const Step> steps, Stretch& kept) {
  if (kept.count == 0) {
    kept = {static_cast<std::uint32_t>(steps_.size()), static_cast<std::uint32_t>(steps.size())};
    steps_.insert(steps_.end(), steps.begin(), steps.end());
    return;
  }
  const auto known = steps_.begin() + kept.first;
  expect(std::equal(steps.begin(), steps.end(), known, known + kept.count, alike),
         "turns of a ring with equal answers differ: {} steps that begin with {}, {} with {}",
         kept.count, known->op, steps.size(), steps.empty() ? "none" : steps.front().op);
}

Trace unfolded(const RankProgram& program) {
  Trace trace;
  std::map<std::uint64_t, std::uint64_t> started;
  for (StepCursor cursor(program); !cursor.done(); cursor.next()) {
    Step step = program.trace->steps()[cursor.at()];
    if (step.kind == Step::Kind::start)
      step.sequence = ++started[communicator_key(step.axes)];
    else if (step.kind == Step::Kind::wait)
      step.sequence = started[communicator_key(step.axes)] - step.sequence;
    trace.append(step);
  }
  return trace;
}

StepCursor::StepCursor(const RankProgram& program) : program_(program) { open(); }

void StepCursor::open() {
  static constexpr std::uint32_t once[] = {0};
  const std::vector<FoldedTrace::Part>& parts = program_.trace->parts();
  at_ = end_ = 0;
  while (at_ == end_) {
    if (order_.empty()) {
      if (part_ == parts.size()) return;
      const FoldedTrace::Part& part = parts[part_++];
      kinds_ = part.kinds;
      order_ = once;
      if (part.ring >= 0) order_ = (*program_.orders)[part.ring];
      continue;
    }
    const FoldedTrace::Stretch& stretch = kinds_[order_.front()];
    order_ = order_.subspan(1);
    at_ = stretch.first;
    end_ = stretch.first + stretch.count;
  }
}

}  // namespace shardlab::sim
