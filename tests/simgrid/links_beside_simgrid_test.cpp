#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <simgrid/s4u.hpp>

#include "engine/sim/links.h"

namespace shardlab::sim {
namespace {

/// Flows over links that no other exchange uses.
struct Exchange {
  std::vector<Link> links;
  std::vector<Flow> flows;
  std::vector<double> expected;  ///< When each ends.
  std::vector<double> found;
};

/// A few flows, each over some links in random order, every third with a limit of its own.
Exchange random_exchange(std::mt19937& random) {
  const auto between = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  Exchange exchange;
  const int links = between(1, 8);
  for (int l = 0; l < links; ++l) exchange.links.push_back({between(1, 50) * 1e8, 0});
  const int flows = between(2, 12);
  for (int f = 0; f < flows; ++f) {
    Flow flow;
    for (int l = 0; l < links; ++l)
      if (between(0, 2) == 0) flow.route.push_back(l);
    if (flow.route.empty()) flow.route.push_back(between(0, links - 1));
    std::shuffle(flow.route.begin(), flow.route.end(), random);
    flow.bytes = between(1, 1000) * 1e7;
    if (f % 3 == 0) flow.most_rate = between(1, 50) * 5e7;
    exchange.flows.push_back(std::move(flow));
  }
  return exchange;
}

/// Lets SimGrid move all of them, each exchange over hosts and links of its own.
void run_in_simgrid(std::vector<Exchange>& exchanges) {
  namespace s4u = simgrid::s4u;
  s4u::NetZone* zone = s4u::create_full_zone("world");
  std::vector<std::vector<std::pair<s4u::Host*, s4u::Host*>>> ends(exchanges.size());
  int number = 0;
  for (std::size_t e = 0; e < exchanges.size(); ++e) {
    const auto wire = [&](double capacity) {
      return s4u::LinkInRoute(zone->create_link("link" + std::to_string(number++), capacity)
                                  ->set_latency(0)
                                  ->set_sharing_policy(s4u::Link::SharingPolicy::SHARED)
                                  ->seal());
    };
    std::vector<s4u::LinkInRoute> links;
    for (const Link& link : exchanges[e].links) links.push_back(wire(link.capacity));
    for (const Flow& flow : exchanges[e].flows) {
      s4u::Host* from = zone->create_host("host" + std::to_string(number++), 1e9)->seal();
      s4u::Host* to = zone->create_host("host" + std::to_string(number++), 1e9)->seal();
      std::vector<s4u::LinkInRoute> route;
      for (const int l : flow.route) route.push_back(links[l]);
      // A limit of its own is a wire that no other flow crosses.
      if (std::isfinite(flow.most_rate)) route.push_back(wire(flow.most_rate));
      zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, route);
      ends[e].emplace_back(from, to);
    }
  }
  zone->seal();
  for (std::size_t e = 0; e < exchanges.size(); ++e)
    s4u::Actor::create("exchange" + std::to_string(e), ends[e].front().first, [&, e] {
      std::vector<s4u::CommPtr> moving;
      for (std::size_t f = 0; f < ends[e].size(); ++f) {
        const Flow& flow = exchanges[e].flows[f];
        s4u::CommPtr comm = s4u::Comm::sendto_init(ends[e][f].first, ends[e][f].second);
        comm->set_payload_size(static_cast<std::uint64_t>(flow.bytes));
        moving.push_back(comm->start());
      }
      for (const s4u::CommPtr& comm : moving) {
        comm->wait();
        exchanges[e].found.push_back(comm->get_finish_time());
      }
    });
  s4u::Engine::get_instance()->run();
}

// 60 exchanges with their own sizes: every rate from the first byte to the last tells in the ends.
// 60 more whose sizes are what our rates move in 100 s: rates are equal if all end then.
TEST(LinksBesideSimGrid, RatesAndEndsAreEqual) {
  std::mt19937 random(20260728);
  std::vector<Exchange> exchanges;
  for (int e = 0; e < 120; ++e) {
    Exchange& exchange = exchanges.emplace_back(random_exchange(random));
    if (e % 2 == 0) {
      exchange.expected = finish_times(exchange.links, exchange.flows);
      continue;
    }
    const std::vector<double> rates = fair_rates(exchange.links, exchange.flows);
    for (std::size_t f = 0; f < rates.size(); ++f) exchange.flows[f].bytes = 100 * rates[f];
    exchange.expected.assign(rates.size(), 100);
  }
  run_in_simgrid(exchanges);
  double worst = 0;
  std::size_t flows = 0;
  for (std::size_t e = 0; e < exchanges.size(); ++e) {
    ASSERT_EQ(exchanges[e].found.size(), exchanges[e].expected.size());
    for (std::size_t f = 0; f < exchanges[e].expected.size(); ++f, ++flows) {
      const double error = std::abs(exchanges[e].found[f] / exchanges[e].expected[f] - 1);
      worst = std::max(worst, error);
      EXPECT_LT(error, 1e-6) << "exchange " << e << " flow " << f;
    }
  }
  std::printf("%zu flows in %zu exchanges, largest difference %.1e\n", flows, exchanges.size(),
              worst);
}

}  // namespace
}  // namespace shardlab::sim

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // Flows as fluids, with none of the corrections that SimGrid has for TCP.
  std::vector<std::string> words{argv[0],
                                 "--cfg=network/model:CM02",
                                 "--cfg=network/TCP-gamma:0",
                                 "--cfg=network/crosstraffic:0",
                                 "--cfg=network/weight-S:0",
                                 "--cfg=network/latency-factor:1",
                                 "--cfg=network/bandwidth-factor:1",
                                 "--cfg=maxmin/precision:1e-9",
                                 "--cfg=surf/precision:1e-9",
                                 "--log=root.threshold:warning"};
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  int count = static_cast<int>(pointers.size());
  const simgrid::s4u::Engine engine(&count, pointers.data());
  return RUN_ALL_TESTS();
}
