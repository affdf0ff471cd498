#include "engine/sim/wire_shares.h"

#include <algorithm>

#include "engine/core/check.h"
#include "engine/sim/links.h"

namespace shardlab::sim {

WireShares::WireShares(std::size_t classes, std::size_t most_work)
    : at_port_(2 * classes), port_number_(2 * classes, -1), most_work_(most_work) {}

void WireShares::begin(int call, std::span<const int> classes, const CallPrice& price, double now) {
  if (static_cast<std::size_t>(call) >= calls_.size()) calls_.resize(call + 1);
  Moving& moving = calls_[call];
  moving = {{}, price.transfer, now, 0, true, false};
  for (const int each : classes) {
    if (price.in_domain) moving.ports.push_back(2 * each);
    if (price.on_network) moving.ports.push_back(2 * each + 1);
  }
  for (const int port : moving.ports) at_port_[port].push_back(call);
  begun_.push_back(call);
}

void WireShares::end(int call) {
  Moving& moving = calls_[call];
  for (const int port : moving.ports) std::erase(at_port_[port], call);
  changed_ports_.insert(changed_ports_.end(), moving.ports.begin(), moving.ports.end());
  moving.moves = false;
}

const std::vector<std::pair<int, double>>& WireShares::update(double now) {
  ends_.clear();
  std::vector<int> from;
  std::swap(from, begun_);
  for (const int port : changed_ports_)
    from.insert(from.end(), at_port_[port].begin(), at_port_[port].end());
  changed_ports_.clear();
  std::vector<int> joined;
  std::vector<int> all;
  for (const int call : from) {
    if (calls_[call].seen || !calls_[call].moves) continue;
    joined.clear();
    spread(call, joined);
    solve(joined, now);
    all.insert(all.end(), joined.begin(), joined.end());
  }
  for (const int call : all) calls_[call].seen = false;
  return ends_;
}

void WireShares::spread(int call, std::vector<int>& joined) {
  calls_[call].seen = true;
  joined.push_back(call);
  for (std::size_t i = 0; i < joined.size(); ++i)
    for (const int port : calls_[joined[i]].ports)
      for (const int other : at_port_[port])
        if (!calls_[other].seen) {
          calls_[other].seen = true;
          joined.push_back(other);
        }
  if (joined.size() > 1) work_ += joined.size();
  if (work_ > most_work_)
    fail(Fault::unsupported,
         "simulate: calls of different communicators overlap so often that their shares of the "
         "wires were worked out for more than {} calls; parts that divide evenly need few",
         most_work_);
}

void WireShares::solve(const std::vector<int>& joined, double now) {
  if (joined.size() == 1) {
    set_speed(joined.front(), 1, now);
    return;
  }
  std::vector<Link> links;
  std::vector<Flow> flows;
  std::vector<int> used;
  for (const int call : joined) {
    Flow& flow = flows.emplace_back();
    flow.most_rate = 1;
    for (const int port : calls_[call].ports) {
      // A port that one call crosses is never full before that call is at its limit.
      if (at_port_[port].size() < 2) continue;
      if (port_number_[port] < 0) {
        port_number_[port] = static_cast<int>(links.size());
        links.push_back({1, 0});
        used.push_back(port);
      }
      flow.route.push_back(port_number_[port]);
    }
  }
  const std::vector<double> speeds = fair_rates(links, flows);
  for (std::size_t i = 0; i < joined.size(); ++i) set_speed(joined[i], speeds[i], now);
  for (const int port : used) port_number_[port] = -1;
}

void WireShares::set_speed(int call, double speed, double now) {
  Moving& moving = calls_[call];
  if (speed == moving.speed) return;
  moving.left = std::max(0.0, moving.left - moving.speed * (now - moving.since));
  moving.since = now;
  moving.speed = speed;
  ends_.emplace_back(call, now + moving.left / speed);
}

}  // namespace shardlab::sim
