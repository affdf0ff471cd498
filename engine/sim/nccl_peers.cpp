#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "engine/core/check.h"
#include "engine/sim/nccl.h"
#include "engine/sim/nccl_channels.h"
#include "engine/sim/nccl_checks.h"
#include "engine/sim/nccl_ramp.h"
#include "engine/sim/nccl_tables.h"

namespace shardlab::sim {
namespace {

constexpr double below_is_ll = 16.0 * 1024;
constexpr double domain_chunk = 512.0 * 1024;
constexpr double network_chunk = 128.0 * 1024;

// What messages get of a NIC's line: NCCL's developers name 46 to 49 GB/s of 50, 24 of 25.
constexpr double usable_of_nic = 0.95;

// One direction of a rank: what goes to its domain and what leaves it.
struct Load {
  double domain = 0;
  double network = 0;
};

// The call as its busiest port sees it.
struct Busiest {
  double domain_seconds = 0;
  double network_seconds = 0;
  double largest_piece = 0;
  double bytes = 0;  // that the most loaded rank sends
  int network_peers = 0;
  bool in_domain = false;
};

double nic_rate(const nccl::Nics& nics) { return nics.rate * usable_of_nic; }

int blocks(const Wires& wires, const Busiest& busiest) {
  const double nics = static_cast<double>(wires.nics_per_host) / wires.gpus_per_host;
  int most = busiest.in_domain ? std::min(32, 2 * wires.links_per_gpu) : 0;
  if (busiest.network_peers > 0) most = std::max(most, static_cast<int>(2 * std::max(1.0, nics)));
  return std::clamp(static_cast<int>(busiest.bytes / below_is_ll), 1, std::max(most, 1));
}

double latency_of(const Wires& wires, const Busiest& busiest, Protocol protocol) {
  const bool far = busiest.network_peers > 0;
  if (wires.sm == 0)
    return wires.launch + (far ? wires.nic_latency : busiest.in_domain ? wires.link_latency : 0.0);
  double latency = nccl::base_latency(Algorithm::ring, protocol);
  if (far) {
    latency += nccl::hop_latency(nccl::Hardware::network, Algorithm::ring, protocol) +
               wires.nic_latency * (protocol == Protocol::simple ? 2 : 1);
    // One thread posts to all peers, one after another.
    latency += (busiest.network_peers - 1) * nccl::post_latency(wires.cpu, Protocol::ll);
  } else if (busiest.in_domain) {
    const auto wire = wires.links_per_gpu > 0 ? nccl::Hardware::nvlink : nccl::Hardware::pci;
    latency += nccl::hop_latency(wire, Algorithm::ring, protocol);
  }
  return latency;
}

Choice price(const Wires& wires, const Busiest& busiest) {
  Choice choice;
  choice.algorithm = Algorithm::peers;
  choice.protocol =
      wires.sm != 0 && busiest.largest_piece < below_is_ll ? Protocol::ll : Protocol::simple;
  choice.channels = blocks(wires, busiest);
  choice.latency_seconds = latency_of(wires, busiest, choice.protocol);
  double transfer = std::max(busiest.domain_seconds, busiest.network_seconds);
  // Half of what LL sends are flags.
  if (choice.protocol == Protocol::ll) transfer *= 2;
  if (transfer > 0) {
    choice.bandwidth = busiest.bytes / transfer;
    const bool far = busiest.network_seconds > busiest.domain_seconds;
    const double chunk = choice.protocol == Protocol::ll ? 0 : far ? network_chunk : domain_chunk;
    const double full = wires.sm == 0 ? transfer : choice.channels * chunk / choice.bandwidth;
    choice.ramp_seconds = nccl::ramp_seconds(choice.latency_seconds, transfer, full);
  }
  choice.seconds = choice.latency_seconds + transfer + choice.ramp_seconds;
  return choice;
}

// Links of a mesh belong to one pair each.
double busiest_pair(const Wires& wires, const Group& group, std::span<const Piece> pieces) {
  const int gpus = nccl::per_domain(group);
  std::unordered_map<std::int64_t, double> pairs;
  double most = 0;
  for (const Piece& piece : pieces) {
    if (piece.from == piece.to || piece.from / gpus != piece.to / gpus) continue;
    double& bytes = pairs[static_cast<std::int64_t>(piece.from) * group.ranks + piece.to];
    most = std::max(most, bytes += piece.bytes);
  }
  return most / nccl::domain_rate(wires, {2, 1});
}

// Ranks of a domain share its NICs in order, or have several each.
double busiest_nic(const Group& group, const nccl::Nics& nics, std::span<const Load> loads) {
  const int gpus = nccl::per_domain(group);
  const int count = static_cast<int>(nics.count);
  if (count >= gpus) {
    double most = 0;
    for (const Load& load : loads) most = std::max(most, load.network);
    return most * gpus / count / nic_rate(nics);
  }
  std::vector<double> carried(static_cast<std::size_t>(count) * group.domains);
  for (std::size_t r = 0; r < loads.size(); ++r)
    carried[r / gpus * count + r % gpus * count / gpus] += loads[r].network;
  return *std::max_element(carried.begin(), carried.end()) / nic_rate(nics);
}

}  // namespace

Choice exchange(const Wires& wires, const Group& group, std::span<const Piece> pieces) {
  nccl::check_call(wires, group, 0);
  const int gpus = nccl::per_domain(group);
  std::vector<Load> sent(group.ranks);
  std::vector<Load> received(group.ranks);
  std::vector<int> network_peers(group.ranks);
  Busiest busiest;
  for (const Piece& piece : pieces) {
    check(piece.from >= 0 && piece.from < group.ranks && piece.to >= 0 && piece.to < group.ranks,
          "exchange: a piece goes from rank {} to rank {}, but there are {}", piece.from, piece.to,
          group.ranks);
    check(piece.bytes >= 0 && std::isfinite(piece.bytes),
          "exchange: the piece from rank {} to rank {} has {} bytes", piece.from, piece.to,
          piece.bytes);
    if (piece.from == piece.to) continue;
    busiest.largest_piece = std::max(busiest.largest_piece, piece.bytes);
    const bool far = piece.from / gpus != piece.to / gpus;
    (far ? sent[piece.from].network : sent[piece.from].domain) += piece.bytes;
    (far ? received[piece.to].network : received[piece.to].domain) += piece.bytes;
    if (far)
      busiest.network_peers = std::max(busiest.network_peers, ++network_peers[piece.from]);
    else
      busiest.in_domain = true;
  }

  const bool mesh = !wires.switched && wires.links_per_gpu > 0;
  for (const auto* loads : {&sent, &received})
    for (const Load& load : *loads) {
      busiest.bytes = std::max(busiest.bytes, load.domain + load.network);
      if (busiest.in_domain && !mesh)
        busiest.domain_seconds =
            std::max(busiest.domain_seconds, load.domain / nccl::domain_rate(wires, group));
    }
  if (busiest.in_domain && mesh) busiest.domain_seconds = busiest_pair(wires, group, pieces);
  if (busiest.network_peers > 0) {
    const nccl::Nics nics = nccl::nics_of(wires, group);
    busiest.network_seconds =
        std::max(busiest_nic(group, nics, sent), busiest_nic(group, nics, received));
  }
  return price(wires, busiest);
}

Choice all_to_all(const Wires& wires, const Group& group, double bytes) {
  nccl::check_call(wires, group, bytes);
  if (group.ranks == 1) return {};
  const double gpus = nccl::per_domain(group);
  const double each = bytes / group.ranks;
  Busiest busiest;
  busiest.largest_piece = each;
  busiest.bytes = each * (group.ranks - 1);
  busiest.in_domain = gpus > 1;
  if (gpus > 1) busiest.domain_seconds = each * (gpus - 1) / nccl::domain_rate(wires, group);
  if (group.domains > 1) {
    const nccl::Nics nics = nccl::nics_of(wires, group);
    busiest.network_peers = group.ranks - static_cast<int>(gpus);
    busiest.network_seconds = each * busiest.network_peers * gpus / (nics.count * nic_rate(nics));
  }
  return price(wires, busiest);
}

Choice halo(const Wires& wires, const Group& group, double bytes, bool closed) {
  nccl::check_call(wires, group, bytes);
  std::vector<Piece> pieces;
  pieces.reserve(2 * static_cast<std::size_t>(group.ranks));
  for (int r = 0; r + 1 < group.ranks; ++r) {
    pieces.push_back({r, r + 1, bytes});
    pieces.push_back({r + 1, r, bytes});
  }
  if (closed && group.ranks > 2) {
    pieces.push_back({group.ranks - 1, 0, bytes});
    pieces.push_back({0, group.ranks - 1, bytes});
  }
  return exchange(wires, group, pieces);
}

}  // namespace shardlab::sim
