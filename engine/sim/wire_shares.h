#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "engine/sim/prices.h"

namespace shardlab::sim {

/// Calls that move bytes at the same time share the wires of their ranks.
///
/// Each time class has one port to the fast links of its domain and one to the network. With x[i]
/// the speed of call i (1: alone) and P the ports of its members that its bytes cross, speeds obey
///     sum over calls i that cross p of x[i] <= 1   for each port p,   x[i] <= 1,
/// and are max-min fair: the x of fair_rates with every capacity 1. A call of transfer time t that
/// has moved since b ends at the e at which the integral of x from b to e is t; speeds change when
/// another call begins or ends to move. Two calls of x seconds on one port that begin together
/// both take 2 x; their latencies are not stretched.
///
/// A class stands for equal ranks with a port each, so that classes see what single ranks would.
/// An exchange crosses the ports of its own rank only: what its peers' ports carry is theirs.
/// What the groups along one axis do to each other is in the price (Place::concurrent).
///
/// Cost     fair_rates over the calls that are joined by ports, when one begins or ends.
/// Errors   Error{unsupported} once that has cost more than `most_work` calls looked at.
class WireShares {
 public:
  explicit WireShares(std::size_t classes, std::size_t most_work = 100'000'000);

  /// Call number `call` of these classes begins to move bytes.
  void begin(int call, std::span<const int> classes, const CallPrice& price, double now);
  void end(int call);

  /// The calls whose end the beginnings and endings up to now have changed, with their new ends.
  [[nodiscard]] const std::vector<std::pair<int, double>>& update(double now);

 private:
  struct Moving {
    std::vector<int> ports;
    double left = 0;  ///< Seconds of transfer, as at `since`.
    double since = 0;
    double speed = 0;
    bool moves = false;
    bool seen = false;
  };

  void spread(int call, std::vector<int>& joined);
  void solve(const std::vector<int>& joined, double now);
  void set_speed(int call, double speed, double now);

  std::vector<Moving> calls_;
  std::vector<std::vector<int>> at_port_;
  std::vector<int> port_number_;  ///< In the system at work, else -1.
  std::vector<int> changed_ports_;
  std::vector<int> begun_;
  std::vector<std::pair<int, double>> ends_;
  std::size_t most_work_;
  std::size_t work_ = 0;
};

}  // namespace shardlab::sim
