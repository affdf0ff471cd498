#pragma once

#include <limits>
#include <span>
#include <vector>

namespace shardlab::sim {

/// One direction of a wire.
struct Link {
  double capacity = 0;  ///< bytes/s
  double latency = 0;   ///< s
};

/// Bytes that move over several links at once, as a fluid.
struct Flow {
  std::vector<int> route;  ///< Numbers of links; one that stands there twice carries it twice.
  double bytes = 0;
  double start = 0;
  double most_rate = std::numeric_limits<double>::infinity();  ///< What its ends can do.
};

/// The max-min fair rates of flows that all move at once.
///
/// With x[f] the rate of flow f, m[f] its own limit and u[l,f] how often f crosses link l, the
/// rates obey  sum over f of u[l,f] x[f] <= C[l]  and  x[f] <= m[f],  and none can grow unless
/// one that is no larger shrinks. Exactly one x does so. It is the one in which each flow has a
/// bottleneck: its own limit, or a link on its route that is full and on which no flow is faster.
///
/// Progressive filling finds it: a level t rises from 0 and all rates with it, until some link
/// is full,
///     sum over fixed f of u[l,f] x[f] + t * sum over the others of u[l,f] = C[l],
/// or some m[f] = t. The flows that this stops keep x = t, the others go on rising. Each round
/// fills at least one link or meets one limit, so there are at most links + flows of them.
///
/// Units    bytes/s; infinite for a flow with neither a link nor a limit.
/// Cost     Rounds * links + flows * route; a symmetric exchange takes one round.
/// Errors   Error{invalid} on a link that does not exist or has no capacity, a negative size.
/// Source   D. Bertsekas and R. Gallager, Data Networks, 2nd edition, 1992, section 6.5.2.
[[nodiscard]] std::vector<double> fair_rates(std::span<const Link> links,
                                             std::span<const Flow> flows);

/// When each flow has arrived: it waits for `start` and once for the latency of each link on its
/// route, without loading them, then moves at its fair rate, which changes whenever another flow
/// begins or ends.
///
/// Cost     Flows that symmetry makes equal are solved as one: an even all-to-all of 256 ranks,
///          65,280 flows, is one event and takes 10 ms. Without symmetry there is an event for
///          every flow, each as dear as fair_rates: 4,000 flows take a second, 16,000 fifteen.
/// Errors   As fair_rates.
[[nodiscard]] std::vector<double> finish_times(std::span<const Link> links,
                                               std::span<const Flow> flows);

}  // namespace shardlab::sim
