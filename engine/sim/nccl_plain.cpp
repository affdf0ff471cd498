#include "engine/sim/nccl_plain.h"

#include <algorithm>
#include <cmath>

#include "engine/sim/nccl_channels.h"
#include "engine/sim/nccl_ramp.h"

namespace shardlab::sim::nccl {
namespace {

double levels(int of) { return std::ceil(std::log2(static_cast<double>(of))); }

Choice at(double latency, double rate, double bytes) {
  Choice choice;
  choice.algorithm = Algorithm::plain;
  choice.latency_seconds = latency;
  choice.bandwidth = rate;
  choice.ramp_seconds = ramp_seconds(latency, bytes / rate, HUGE_VAL);
  choice.seconds = latency + bytes / rate + choice.ramp_seconds;
  return choice;
}

}  // namespace

Choice plain_choice(const Wires& wires, const Group& group, Collective collective, double bytes) {
  const int gpus = per_domain(group);
  double rate = HUGE_VAL;
  if (gpus > 1) rate = domain_rate(wires, group);
  if (group.domains > 1) {
    const Nics nics = nics_of(wires, group);
    rate = std::min(rate, nics.count * nics.rate);
  }

  const double ranks = group.ranks;
  const double rounds = collective == Collective::all_reduce ? 2 : 1;
  const double crossings = rounds * (group.domains - 1);
  const double hops = rounds * (ranks - 1) - crossings;
  const double share = collective == Collective::broadcast ? 1 : rounds * (ranks - 1) / ranks;
  const Choice ring = at(wires.launch + hops * wires.link_latency + crossings * wires.nic_latency,
                         rate / share, bytes);
  if (collective == Collective::all_gather || collective == Collective::reduce_scatter) return ring;
  const Choice tree = at(wires.launch + rounds * (levels(gpus) * wires.link_latency +
                                                  levels(group.domains) * wires.nic_latency),
                         rate / 2, bytes);
  return tree.seconds < ring.seconds ? tree : ring;
}

}  // namespace shardlab::sim::nccl
