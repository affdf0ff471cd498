#include "engine/sim/nccl_channels.h"

#include <algorithm>
#include <cmath>

#include "engine/sim/nccl_tables.h"

namespace shardlab::sim::nccl {
namespace {

constexpr int most_searched = 32;
constexpr int most_heads = 32;
constexpr int most_blocks = 64;

// NCCL rounds to a thousandth of 1 GB/s.
constexpr double rounding = 1e6;

int shares(double whole, double part) {
  return static_cast<int>(std::floor((whole + rounding) / part));
}

// What the search may use in one domain.
struct Room {
  double links;     // of one GPU, bytes/s
  double nics;      // that serve the group; 0 on one domain
  double nic_rate;  // of one
  int gpus;
};

Room room_of(const Wires& wires, const Group& group) {
  Room room{domain_rate(wires, group), 0, 0, per_domain(group)};
  if (room.gpus == 1) room.links = HUGE_VAL;
  if (group.domains > 1) {
    room.nics = nics_of(wires, group).count;
    room.nic_rate = std::min(wires.nic_bytes_per_second, wires.pcie_bytes_per_second);
  }
  return room;
}

// Channels of a ring or tree that fit at one speed.
int fitting(const Room& room, double speed) {
  int channels = most_searched;
  if (std::isfinite(room.links)) channels = std::min(channels, shares(room.links, speed));
  if (room.nics > 0) {
    // Fewer NICs than GPUs, or a share of one, still carry whole channels.
    const double each = shares(room.nic_rate, speed);
    channels = std::min(channels, static_cast<int>(std::max(room.nics, 1.0) * each));
  }
  return channels;
}

Graph ring_of(const Wires& wires, const Room& room) {
  const auto tried = speeds(wires.sm, room.nics > 0);
  Graph best;
  for (std::size_t i = 0; i < tried.size(); ++i) {
    if (best.channels > 0 && tried[i] / best.within <= 0.49) break;
    const int channels = fitting(room, tried[i]);
    if (channels * tried[i] > best.channels * best.within) best = {channels, tried[i], tried[i]};
  }
  if (best.channels == 0) {
    // Slower than any speed of the table: one channel takes what there is.
    const double rate = room.nics > 0 ? room.nic_rate : room.links;
    best = {1, rate, rate};
  }
  const bool few_or_fast = best.within >= 50e9 || best.channels <= 4;
  if (best.within >= 25e9 && (wires.sm <= 80 || few_or_fast)) {
    const int doubled = std::min(2 * best.channels, most_searched);
    const double parts = std::ceil(static_cast<double>(doubled) / best.channels);
    best = {doubled, best.within / parts, best.between / parts};
  }
  for (auto speed = tried.rbegin(); speed != tried.rend(); ++speed)
    if (*speed > best.within && fitting(room, *speed) >= best.channels)
      best.within = best.between = *speed;
  return best;
}

// As many channels as the ring; inside a domain up to twice what leaves it.
Graph tree_of(const Wires& wires, const Room& room, const Graph& ring) {
  Graph tree = ring;
  if (room.nics == 0) return tree;
  const auto tried = speeds(wires.sm, true);
  for (auto speed = tried.rbegin(); speed != tried.rend(); ++speed)
    if (*speed > tree.within && tree.within < 2 * tree.between &&
        tree.channels * *speed <= room.links + rounding)
      tree.within = *speed;
  return tree;
}

Graph nvls_of(const Wires& wires, const Room& room) {
  if (!wires.nvls || wires.sm < 90 || room.gpus < 2) return {};
  const int heads = std::min(most_heads, room.gpus);
  const auto tried = speeds(wires.sm, room.nics > 0);
  Graph best;
  for (const double speed : tried) {
    if ((heads + 1) * speed > room.links + rounding) continue;
    if (room.nics > 0 &&
        (speed > room.nic_rate || heads > room.nics * shares(room.nic_rate, speed)))
      continue;
    best = {heads, speed, speed};
    break;
  }
  if (best.channels == 0) return {};
  for (auto speed = tried.rbegin(); speed != tried.rend(); ++speed)
    if (*speed > best.between && best.between < 2 * best.within &&
        (room.nics == 0 || heads <= room.nics * shares(room.nic_rate, *speed)))
      best.between = *speed;
  return best;
}

}  // namespace

int per_domain(const Group& group) { return (group.ranks + group.domains - 1) / group.domains; }

double domain_rate(const Wires& wires, const Group& group) {
  if (wires.links_per_gpu == 0) return wires.pcie_bytes_per_second;
  double links = wires.links_per_gpu;
  if (!wires.switched && wires.domain > 1)
    links *= std::min(1.0, (per_domain(group) - 1.0) / (wires.domain - 1.0));
  const double usable = wires.sm == 0 ? 1 : usable_of_link(wires.sm);
  return links * wires.link_bytes_per_second * usable;
}

Nics nics_of(const Wires& wires, const Group& group) {
  const double each = static_cast<double>(wires.nics_per_host) / wires.gpus_per_host;
  const double count = std::max(1.0, std::round(per_domain(group) * each));
  const double share = std::min(1.0, wires.domain * each / (count * group.concurrent));
  const double rate = std::min(wires.nic_bytes_per_second, wires.pcie_bytes_per_second);
  return {count, rate * share};
}

Graphs search(const Wires& wires, const Group& group) {
  const Room room = room_of(wires, group);
  const Graph ring = ring_of(wires, room);
  return {ring, tree_of(wires, room, ring), nvls_of(wires, room)};
}

int blocks_of(const Wires& wires, const Group& group, const Graphs& graphs, Algorithm algorithm,
              Protocol protocol, double bytes) {
  if (algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree)
    return wires.sm >= 100 ? (group.domains > 1 ? 32 : 24) : 16;
  // Every channel of the search is laid twice.
  int blocks = std::min(most_blocks, 2 * graphs.ring.channels);
  const double threads = protocol == Protocol::ll128 ? 640 : 512;
  const double ranks = algorithm == Algorithm::ring ? group.ranks : 1;
  const double each = protocol == Protocol::ll ? 8 * ranks : protocol == Protocol::ll128 ? 8 : 64;
  const double least = std::max(threads * each, 16.0 * 1024);
  return std::clamp(static_cast<int>(bytes / least), 1, blocks);
}

}  // namespace shardlab::sim::nccl
