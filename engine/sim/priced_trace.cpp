#include "engine/sim/priced_trace.h"

#include <algorithm>

namespace shardlab::sim {

PricedTrace::PricedTrace(const FoldedTrace& trace, const Prices& prices,
                         std::vector<AxisList>& lanes)
    : trace_(trace), prices_(prices) {
  std::vector<std::pair<AxisList, std::int32_t>> meetings;
  for (const Step& step : trace.steps()) {
    Entry& entry = entries_.emplace_back();
    entry.kind = step.kind;
    entry.issue = prices.issue(step);
    if (step.kind == Step::Kind::kernel) entry.kernel = prices.kernel(step);
    if (step.kind != Step::Kind::start && step.kind != Step::Kind::wait) continue;
    const auto lane = std::find(lanes.begin(), lanes.end(), step.axes);
    entry.lane = static_cast<int>(lane - lanes.begin());
    if (lane == lanes.end()) lanes.push_back(step.axes);
    entry.back = step.sequence;
    if (step.kind == Step::Kind::wait) continue;
    entry.progress = prices.progress(step);
    const std::pair meeting(step.axes, step.relative_peer);
    const auto known = std::find(meetings.begin(), meetings.end(), meeting);
    entry.meeting = static_cast<int>(known - meetings.begin());
    if (known == meetings.end()) meetings.push_back(meeting);
  }
}

const CallPrice& PricedTrace::call(std::uint32_t step, const Place& place) {
  auto at = std::find_if(calls_.begin(), calls_.end(),
                         [&](const CallsAt& each) { return each.place == place; });
  if (at == calls_.end()) {
    at = calls_.insert(at, {place, std::vector<CallPrice>(entries_.size())});
    for (CallPrice& price : at->prices) price.latency = -1;
  }
  CallPrice& price = at->prices[step];
  if (price.latency < 0) price = prices_.communication(trace_.steps()[step], place);
  return price;
}

}  // namespace shardlab::sim
