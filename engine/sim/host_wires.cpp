#include "engine/sim/host_wires.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace shardlab::sim {
namespace {

/// Places of the GPUs of a matrix.
std::vector<std::size_t> gpus_of(const GpuMatrix& matrix) {
  std::vector<std::size_t> gpus;
  for (std::size_t i = 0; i < matrix.devices().size(); ++i)
    if (matrix.devices()[i].gpu) gpus.push_back(i);
  return gpus;
}

std::string note_of(const Oddity& oddity) {
  return oddity.line > 0 ? fmt::format("line {}: {}", oddity.line, oddity.text) : oddity.text;
}

void read_links(const GpuMatrix& matrix, int most_links, HostWires& wires) {
  const std::vector<std::size_t> gpus = gpus_of(matrix);
  std::set<int> widths;
  std::vector<int> sums;
  std::size_t linked = 0;
  for (const std::size_t a : gpus) {
    int sum = 0;
    std::size_t peers = 0;
    for (const std::size_t b : gpus) {
      if (a == b || matrix.between(a, b).link != MatrixLink::nvlink) continue;
      widths.insert(matrix.between(a, b).nvlinks);
      sum += matrix.between(a, b).nvlinks;
      ++peers;
    }
    sums.push_back(sum);
    linked = std::max(linked, peers);
  }
  wires.domain = static_cast<int>(linked) + 1;
  if (widths.empty()) {
    wires.links = 0;
    wires.kind = "none";
    return;
  }
  const int most = *std::max_element(sums.begin(), sums.end());
  const bool switched = widths.size() == 1 && linked > 1 && most > most_links;
  wires.kind = switched ? "switch" : "mesh";
  wires.links = switched ? *widths.begin() : most;
  if (std::any_of(sums.begin(), sums.end(), [most](int sum) { return sum != most; }))
    wires.notes.push_back(fmt::format("GPUs have {} to {} links; the most are taken",
                                      *std::min_element(sums.begin(), sums.end()), most));
}

void read_ports(const GpuMatrix& matrix, HostWires& wires) {
  if (matrix.nics() == 0) {
    wires.notes.emplace_back("no network ports shown; nothing is said of the network");
    return;
  }
  std::set<std::size_t> near;
  for (const std::size_t gpu : gpus_of(matrix))
    for (const std::size_t nic : matrix.nearest_nics(gpu)) {
      const MatrixLink link = matrix.between(gpu, nic).link;
      if (link == MatrixLink::pix || link == MatrixLink::pxb) near.insert(nic);
    }
  wires.nics = near.empty() ? matrix.nics() : static_cast<int>(near.size());
  if (*wires.nics < matrix.nics())
    wires.notes.push_back(
        fmt::format("{} of {} network ports are near a GPU; the others are taken "
                    "to be for storage and management",
                    *wires.nics, matrix.nics()));
}

void set(Machine& machine, const Machine& base, const char* path, std::optional<double> value,
         const std::string& from) {
  if (value && base.value_or(path, -1) != *value)
    machine.numbers[path] = {*value, Source::user_measured, from, 0.01};
}

}  // namespace

HostWires wires_of(const GpuMatrix& matrix, int most_links) {
  HostWires wires;
  for (const Oddity& oddity : matrix.oddities()) wires.notes.push_back(note_of(oddity));
  wires.gpus = matrix.gpus();
  if (matrix.gpus() > 1) read_links(matrix, most_links, wires);
  read_ports(matrix, wires);
  return wires;
}

HostWires wires_of(const NcclTopology& topology) {
  HostWires wires;
  for (const Oddity& oddity : topology.oddities) wires.notes.push_back(note_of(oddity));
  if (topology.gpu_devices > 0) wires.gpus = topology.gpu_devices;
  std::vector<int> links(topology.gpus.size());
  bool switched = false;
  for (const TopologyLink& link : topology.links) {
    links[link.gpu] += link.count;
    switched = switched || link.to_switch;
  }
  const int most = links.empty() ? 0 : *std::max_element(links.begin(), links.end());
  if (most > 0) {
    wires.links = most;
    wires.kind = switched ? "switch" : "mesh";
    if (switched && wires.gpus) wires.domain = wires.gpus;
  } else {
    wires.notes.emplace_back("no links of GPUs in the file; nothing is said of them");
  }
  if (!topology.nets.empty()) {
    wires.nics = static_cast<int>(topology.nets.size());
    double slowest = 0;
    double latency = 0;
    for (const TopologyNet& net : topology.nets) {
      if (net.bytes_per_second > 0 && (slowest == 0 || net.bytes_per_second < slowest))
        slowest = net.bytes_per_second;
      latency = std::max(latency, net.latency);
    }
    if (slowest > 0) wires.nic_bytes_per_second = slowest;
    wires.nic_latency = latency;
  } else if (topology.net_devices > 0) {
    wires.nics = topology.net_devices;
  }
  return wires;
}

Machine corrected(const Machine& base, const HostWires& wires, const std::string& from) {
  Machine machine;
  set(machine, base, "host.gpus", wires.gpus, from);
  set(machine, base, "nvlink.links", wires.links, from);
  // A rack of several hosts is one domain, which the topology of one host does not show.
  if (wires.domain && (wires.gpus == base.value_or("nvlink.domain", 0) ||
                       base.value_or("nvlink.domain", 0) <= base.value_or("host.gpus", 0)))
    set(machine, base, "nvlink.domain", wires.domain, from);
  set(machine, base, "nic.count", wires.nics, from);
  set(machine, base, "nic.bandwidth", wires.nic_bytes_per_second, from);
  set(machine, base, "nic.latency", wires.nic_latency, from);
  const auto kind = base.words.find("nvlink.kind");
  if (!wires.kind.empty() && (kind == base.words.end() || kind->second != wires.kind))
    machine.words["nvlink.kind"] = wires.kind;
  return machine;
}

}  // namespace shardlab::sim
