#include "engine/sim/machine_prices.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/core/check.h"
#include "engine/sim/attention_fill.h"
#include "engine/sim/collective_trust.h"

namespace shardlab::sim {
namespace {

int count_of(const Machine& machine, std::string_view path, int otherwise) {
  return static_cast<int>(std::lround(machine.value_or(path, otherwise)));
}

bool is(const Step& step, const char* op) { return std::strcmp(step.op, op) == 0; }

bool sharded(const Step& step) {
  if (step.layout == nullptr) return false;
  for (int d = 0; d < step.layout->ndim(); ++d)
    if (step.layout->dim(d).split != nullptr) return true;
  return false;
}

/// The share of its rate that each of the ranks of a host keeps: all of it alone, what the machine
/// says when the host is full, and in between as many steps of equal size.
double kept(const Machine& machine, std::string_view path, int ranks) {
  const double full = machine.value_or(path, 1);
  const int gpus = count_of(machine, "host.gpus", 1);
  if (gpus < 2) return full;
  return 1 - (1 - full) * (std::min(ranks, gpus) - 1) / (gpus - 1);
}

/// The name of a communication in logs and machine files.
const char* call_of(const Step& start) { return start.relative_peer != 0 ? "send_recv" : start.op; }

/// Says which wires a call loads.
CallPrice on_wires(CallPrice price, const Step& start, const Place& place) {
  const bool exchange = start.relative_peer != 0;
  price.on_network = exchange ? place.wire == Wire::network : place.domains > 1;
  price.in_domain = exchange ? place.wire == Wire::domain : place.per_domain > 1;
  return price;
}

}  // namespace

Wires wires_of(const Machine& machine) {
  Wires wires;
  const std::string& arch = machine.word("gpu.arch");
  wires.sm = arch.starts_with("sm") ? std::stoi(arch.substr(2)) : 0;
  const std::string& cpu = machine.word("host.cpu");
  wires.cpu = cpu == "amd" ? Cpu::amd : cpu == "arm" ? Cpu::arm : Cpu::intel;
  wires.links_per_gpu = count_of(machine, "nvlink.links", 0);
  wires.link_bytes_per_second = machine.value_or("nvlink.link_bandwidth", 0);
  wires.domain = count_of(machine, "nvlink.domain", 1);
  const bool joined = wires.links_per_gpu > 0;
  wires.switched = joined && machine.word("nvlink.kind") == "switch";
  wires.nvls = wires.switched && wires.sm >= 90;
  wires.pcie_bytes_per_second =
      machine.value_or("host.copy_bandwidth", wires.pcie_bytes_per_second);
  wires.gpus_per_host = count_of(machine, "host.gpus", 1);
  wires.nics_per_host = count_of(machine, "nic.count", 0);
  wires.nic_bytes_per_second = machine.value_or("nic.bandwidth", 0);
  wires.nic_latency_reported = machine.value_or("nic.latency", 0);
  // What a plugin reports sways NCCL's choice; messages themselves are faster on EFA.
  wires.nic_latency = std::min(wires.nic_latency_reported,
                               machine.value_or("fabric.latency", wires.nic_latency_reported));
  if (wires.sm == 0) wires.link_latency = machine.value_or("nvlink.latency", wires.link_latency);
  return wires;
}

MachinePrices::MachinePrices(const Machine& machine, const Profile& profile, MathMode math,
                             const WhatIf& what_if, int ranks)
    : machine_(machine),
      profile_(profile),
      what_if_(what_if),
      rates_(machine),
      math_(math),
      cpu_(machine.word("gpu.arch") == "cpu"),
      busy_compute_(kept(machine, "host.busy_compute", ranks)),
      busy_memory_(kept(machine, "host.busy_memory", ranks)),
      wires_(wires_of(machine)) {
  for (const CollectiveCurve& curve : machine.collectives) {
    Points rates;
    for (const auto& [bytes, seconds] : curve.points) rates.emplace_back(bytes, bytes / seconds);
    lines_.emplace_back().complete(rates, curve.source, curve.half_width);
  }
}

double MachinePrices::issue(const Step& step) const {
  switch (step.kind) {
    case Step::Kind::start:
      return step.relative_peer != 0 ? profile_.ring_message.value : profile_.call_issue.value;
    case Step::Kind::wait:
      return 0;
    default:
      return (sharded(step) ? profile_.sharded_issue : profile_.op_issue).value +
             (step.kind == Step::Kind::kernel ? machine_.value("host.launch") + what_if_.launch
                                              : 0);
  }
}

OpTime MachinePrices::rated(const Step& step) const {
  Work work;
  work.family = family_of(step.op);
  work.op = step.op;
  work.precision = {step.dtype, step.dtype == Dtype::float32 ? math_ : MathMode::exact};
  work.flop = static_cast<double>(step.flop);
  work.bytes = static_cast<double>(step.bytes);
  OpTime time = rates_.time(work);
  const double launch = machine_.value("gpu.launch");
  time.seconds = launch + (time.seconds - launch) / attention_fill(machine_, profile_, step);
  time.seconds /= what_if_.peak * (time.by_memory ? busy_memory_ : busy_compute_);
  return time;
}

double MachinePrices::kernel(const Step& step) const { return rated(step).seconds; }

Progress MachinePrices::progress(const Step& start) const {
  const bool ring = start.relative_peer != 0;
  const bool waits = cpu_ || !what_if_.overlap || (ring && !profile_.ring.overlaps);
  return waits ? Progress::at_wait : Progress::beside;
}

const CollectiveCurve* MachinePrices::curve_of(std::string_view collective,
                                               const Place& place) const {
  const CollectiveCurve* best = nullptr;
  for (const CollectiveCurve& curve : machine_.collectives) {
    if (curve.collective != collective || curve.hosts != std::max(1, place.domains)) continue;
    const auto distance = [&](const CollectiveCurve& c) { return std::abs(c.ranks - place.ranks); };
    if (best == nullptr || distance(curve) < distance(*best)) best = &curve;
  }
  return best;
}

CallTrust MachinePrices::trust(const Step& start, const Place& place) const {
  const bool pair = start.relative_peer != 0;
  auto bytes = static_cast<double>(start.bytes);
  if (const CollectiveCurve* curve = curve_of(call_of(start), place)) {
    const RateLine& line = lines_[static_cast<std::size_t>(curve - machine_.collectives.data())];
    const bool outside = (bytes > 0 && line.at(bytes).extrapolated) || curve->extrapolated() ||
                         (!pair && !measured_around(call_of(start), place));
    return {curve->half_width, curve->source, outside, true};
  }
  if (is(start, "all_to_all")) bytes /= place.ranks;
  const bool far = pair ? place.wire == Wire::network : place.domains > 1;
  CollectiveTrust trust;
  if (are_validated(machine_.word(far ? "fabric.kind" : "nvlink.kind")))
    trust = collective_trust(call_of(start), bytes);
  const bool outside =
      trust.logs > 0 && (bytes > trust.most_bytes || place.ranks > trust.most_ranks);
  return {trust.half_width, Source::derived, outside, trust.logs > 0};
}

bool MachinePrices::measured_around(std::string_view collective, const Place& place) const {
  bool fewer = false;
  bool more = false;
  for (const CollectiveCurve& curve : machine_.collectives) {
    if (curve.collective != collective || curve.hosts != std::max(1, place.domains)) continue;
    fewer = fewer || curve.ranks <= place.ranks;
    more = more || curve.ranks >= place.ranks;
  }
  return fewer && more;
}

CallPrice MachinePrices::modelled(const Step& start, const Place& place) const {
  auto bytes = static_cast<double>(start.bytes);
  Group group{place.ranks, place.domains, place.concurrent};
  if (start.relative_peer != 0) {
    const bool near = place.wire != Wire::network;
    group = {2, near ? 1 : 2, near ? 1 : place.concurrent};
  }
  // A trace counts the parts of all ranks.
  if (is(start, "all_to_all")) bytes /= place.ranks;
  const Choice choice = choose(wires_, group, call_of(start), bytes);
  return on_wires({choice.latency_seconds * what_if_.latency,
                   (choice.seconds - choice.latency_seconds) / what_if_.bandwidth},
                  start, place);
}

CallPrice MachinePrices::communication(const Step& start, const Place& place) const {
  if (place.ranks == 1) return {};
  const CollectiveCurve* curve = curve_of(call_of(start), place);
  check(curve != nullptr || !cpu_, "machine {}: no measured {}; run `shardlab probe`",
        machine_.name, call_of(start));
  if (curve == nullptr) return modelled(start, place);
  const auto bytes = static_cast<double>(start.bytes);
  const RateLine& line = lines_[static_cast<std::size_t>(curve - machine_.collectives.data())];
  double seconds = bytes > 0 ? bytes / line.at(bytes).value : curve->points.front().second;
  seconds /= what_if_.bandwidth;
  if (!cpu_ && curve->ranks != place.ranks && start.relative_peer == 0) {
    // Of another number of ranks: as much more or less as the model says.
    Place measured = place;
    measured.ranks = curve->ranks;
    measured.concurrent = 1;
    seconds *= modelled(start, place).seconds() / modelled(start, measured).seconds();
  }
  // On cpu the ranks themselves copy, and nothing is shared.
  const double latency = cpu_ ? seconds : std::min(seconds, modelled(start, place).latency);
  return on_wires({latency, seconds - latency}, start, place);
}

}  // namespace shardlab::sim
