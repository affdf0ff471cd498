#include "engine/sim/nccl_times.h"

#include <algorithm>
#include <cmath>

#include "engine/sim/nccl_tables.h"

namespace shardlab::sim::nccl {
namespace {

double floor_log2(int value) { return std::ilogb(static_cast<double>(value)); }

bool offers(const Call& call, Algorithm algorithm, Protocol protocol) {
  const bool reduces = call.collective == Collective::all_reduce;
  const bool gathers =
      call.collective == Collective::all_gather || call.collective == Collective::reduce_scatter;
  const int domains = call.group.domains;
  const bool many = domains > 1;
  if (protocol == Protocol::ll128 && (call.wires.links_per_gpu == 0 || !call.wires.near_nics))
    return false;
  switch (algorithm) {
    case Algorithm::ring:
      return true;
    case Algorithm::tree:
      return reduces;
    case Algorithm::nvls:
      return !many && (reduces || gathers) && protocol == Protocol::simple &&
             call.graphs.nvls.channels > 0;
    case Algorithm::nvls_tree:
      return many && reduces && protocol == Protocol::simple && call.graphs.nvls.channels > 0;
    case Algorithm::pat:
      return gathers && protocol == Protocol::simple && many && call.group.ranks == domains;
    default:
      return false;
  }
}

// What a ring's or tree's channels carry together.
double bus_of(const Call& call, const Graph& graph) {
  return graph.channels * (call.group.domains <= 2 ? graph.within : graph.between);
}

double nvls_bandwidth(const Call& call, Algorithm algorithm, const Caps& caps) {
  const Graph& graph = call.graphs.nvls;
  const double gpus = static_cast<double>(call.group.ranks) / call.group.domains;
  double each = graph.within * caps.nvls_efficiency * (graph.channels - 1) / graph.channels;
  each *= call.collective == Collective::all_reduce ? 2 : (gpus - 1) / gpus;
  if (algorithm == Algorithm::nvls_tree) {
    each = std::min(each, graph.between * (call.group.domains <= 2 ? 2 : 1));
    if (caps.nvls_tree > 0) each = std::min(each, caps.nvls_tree);
  }
  return graph.channels * each;
}

// Of the bytes of the call, not of those on the wires.
double bandwidth_of(const Call& call, Algorithm algorithm, Protocol protocol) {
  const Caps caps = caps_of(call.wires.sm, call.group.domains, call.wires.cpu);
  const double ranks = call.group.ranks;
  const double steps = call.collective == Collective::all_reduce  ? 2 * (ranks - 1)
                       : call.collective == Collective::broadcast ? ranks
                                                                  : ranks - 1;
  double bus = 0;
  switch (algorithm) {
    case Algorithm::ring:
      bus = bus_of(call, call.graphs.ring);
      if (protocol == Protocol::ll) bus = std::min(caps.ll, bus / 2);
      if (protocol == Protocol::ll128)
        bus = std::min(0.92 * bus, call.graphs.ring.channels * caps.ring_ll128);
      return bus * ranks / steps;
    case Algorithm::tree: {
      const Graph& graph = call.graphs.tree;
      bus = std::min(0.92 * bus_of(call, graph), graph.channels * caps.tree);
      if (protocol == Protocol::ll) bus = std::min(bus / 3.8, caps.ll);
      if (protocol == Protocol::ll128)
        bus = std::min(bus * (call.group.domains == 1 ? 7.0 / 9 : 120.0 / 128),
                       graph.channels * caps.tree_ll128);
      return bus / 2 * tree_correction(protocol, call.bytes);
    }
    case Algorithm::pat:
      return 0.75 * bus_of(call, call.graphs.ring);
    default:
      return nvls_bandwidth(call, algorithm, caps) * ranks / steps;
  }
}

double ring_latency(const Call& call, Protocol protocol, double within, double between) {
  const int ranks = call.group.ranks;
  const int domains = call.group.domains;
  if (call.collective == Collective::broadcast) return domains > 1 ? between : within;
  const double rounds = call.collective == Collective::all_reduce ? 2 : 1;
  const double crossings = rounds * (domains - 1);
  const double each =
      domains > 1 ? std::max(within, post_latency(call.wires.cpu, protocol)) : within;
  return (rounds * (ranks - 1) - crossings) * each + crossings * between;
}

double latency_of(const Call& call, Algorithm algorithm, Protocol protocol, double nic_latency) {
  const int domains = call.group.domains;
  const double gpus = static_cast<double>(call.group.ranks) / domains;
  const Hardware inside = call.wires.links_per_gpu > 0 ? Hardware::nvlink : Hardware::pci;
  const double within = hop_latency(inside, algorithm, protocol);
  // A ring of one GPU a domain has no NVLink step to hide behind and costs what a tree's does.
  const Algorithm far = algorithm == Algorithm::ring && gpus == 1 ? Algorithm::tree : algorithm;
  // Simple also flushes what the NIC wrote before it reads it.
  const double between = hop_latency(Hardware::network, far, protocol) +
                         nic_latency * (protocol == Protocol::simple ? 2 : 1);
  const double base = base_latency(algorithm, protocol);
  switch (algorithm) {
    case Algorithm::ring: {
      double latency = base + ring_latency(call, protocol, within, between);
      const double each = call.bytes / (call.graphs.ring.channels * 2.0 * call.group.ranks);
      if (protocol == Protocol::simple && domains > 1 && each >= 64 &&
          call.collective == Collective::all_reduce)
        latency *= call.wires.sm < 80 ? 1.9 : 1.4;
      return latency;
    }
    case Algorithm::tree:
      return base + 2 * ((gpus - 1) * within + floor_log2(domains) * between);
    case Algorithm::nvls:
      return within;
    case Algorithm::nvls_tree:
      return within + 2 * floor_log2(domains) * between;
    default:
      return base + floor_log2(domains) * between / 3.5 + 2.8e-6 * call.group.ranks;
  }
}

}  // namespace

Cost cost_of(const Call& call, Algorithm algorithm, Protocol protocol, double nic_latency) {
  if (!offers(call, algorithm, protocol)) return {};
  return {latency_of(call, algorithm, protocol, nic_latency),
          bandwidth_of(call, algorithm, protocol)};
}

}  // namespace shardlab::sim::nccl
