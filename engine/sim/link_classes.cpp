#include "engine/sim/link_classes.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <unordered_map>

#include "engine/core/split.h"

namespace shardlab::sim {
namespace {

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value + 0.0); }

// Sums of mixed hashes do not depend on the order of what they sum.
std::uint64_t mixed(std::uint64_t value) {
  value ^= value >> 31;
  value *= 0x7fb5d329728ea185ULL;
  value ^= value >> 27;
  value *= 0x81dadef4bc2dd44dULL;
  return value ^ (value >> 33);
}

// Numbers colours 0, 1, ... in order of appearance and returns how many there are.
int number(std::span<const std::uint64_t> colours, std::vector<int>& classes) {
  std::unordered_map<std::uint64_t, int> seen;
  seen.reserve(64);
  classes.resize(colours.size());
  for (std::size_t i = 0; i < colours.size(); ++i)
    classes[i] = seen.try_emplace(colours[i], static_cast<int>(seen.size())).first->second;
  return static_cast<int>(seen.size());
}

}  // namespace

LinkClasses classify(std::span<const Link> links, std::span<const Flow> flows) {
  std::vector<std::uint64_t> flow_colours(flows.size());
  std::vector<std::uint64_t> link_colours(links.size());
  for (std::size_t f = 0; f < flows.size(); ++f)
    flow_colours[f] =
        hash_join(hash_join(hash_join(hash_start, bits(flows[f].bytes)), bits(flows[f].start)),
                  bits(flows[f].most_rate));
  for (std::size_t l = 0; l < links.size(); ++l)
    link_colours[l] =
        hash_join(hash_join(hash_start, bits(links[l].capacity)), bits(links[l].latency));

  LinkClasses result;
  std::vector<int> class_of_link;
  int flow_classes = number(flow_colours, result.class_of_flow);
  int link_classes = number(link_colours, class_of_link);
  std::vector<std::uint64_t> seen(links.size());
  while (true) {
    std::fill(seen.begin(), seen.end(), 0);
    for (std::size_t f = 0; f < flows.size(); ++f)
      for (const int l : flows[f].route) seen[l] += mixed(flow_colours[f]);
    for (std::size_t l = 0; l < links.size(); ++l)
      link_colours[l] = hash_join(link_colours[l], seen[l]);
    for (std::size_t f = 0; f < flows.size(); ++f) {
      std::uint64_t crossed = 0;
      for (const int l : flows[f].route) crossed += mixed(link_colours[l]);
      flow_colours[f] = hash_join(flow_colours[f], crossed);
    }
    const int more_flow_classes = number(flow_colours, result.class_of_flow);
    const int more_link_classes = number(link_colours, class_of_link);
    if (more_flow_classes == flow_classes && more_link_classes == link_classes) break;
    flow_classes = more_flow_classes;
    link_classes = more_link_classes;
  }

  result.capacity.resize(link_classes);
  std::vector<double> members(link_classes);
  for (std::size_t l = 0; l < links.size(); ++l) {
    result.capacity[class_of_link[l]] = links[l].capacity;
    members[class_of_link[l]] += 1;
  }
  std::vector<double> flow_members(flow_classes);
  result.example.resize(flow_classes, -1);
  for (std::size_t f = 0; f < flows.size(); ++f) {
    const int c = result.class_of_flow[f];
    flow_members[c] += 1;
    if (result.example[c] < 0) result.example[c] = static_cast<int>(f);
  }
  result.uses.resize(flow_classes);
  for (int c = 0; c < flow_classes; ++c) {
    std::vector<LinkClasses::Use>& uses = result.uses[c];
    for (const int l : flows[result.example[c]].route) {
      const int link_class = class_of_link[l];
      const auto at = std::find_if(uses.begin(), uses.end(),
                                   [&](const auto& use) { return use.link_class == link_class; });
      if (at == uses.end())
        uses.push_back({link_class, 1});
      else
        at->times += 1;
    }
    // Whole numbers: links of one class are crossed equally often.
    for (auto& use : uses) use.times = use.times * flow_members[c] / members[use.link_class];
  }
  return result;
}

}  // namespace shardlab::sim
