#pragma once

#include <span>
#include <vector>

#include "engine/sim/links.h"

namespace shardlab::sim {

/// Flows and links that no measurement could tell apart, taken together.
///
/// Links of one class have one capacity and carry the same numbers of flows of every class; flows
/// of one class have one size, start and limit and cross the same numbers of links of every
/// class. The max-min fair rates are unique, so members of a class have one rate at all times.
struct LinkClasses {
  /// A class of links as its flow classes see it.
  struct Use {
    int link_class;
    double times;  ///< How often one link of the class is crossed by this class of flows.
  };

  std::vector<int> class_of_flow;
  std::vector<double> capacity;        ///< of each link class
  std::vector<std::vector<Use>> uses;  ///< of each flow class
  std::vector<int> example;            ///< a flow of each flow class
};

/// Refines "all alike" until stable, as colours of a graph are.
///
/// Cost     Rounds * (flows * route); rounds grow with the distance over which flows can differ.
[[nodiscard]] LinkClasses classify(std::span<const Link> links, std::span<const Flow> flows);

}  // namespace shardlab::sim
