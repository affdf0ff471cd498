#include "engine/sim/nccl.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "engine/core/check.h"
#include "engine/sim/nccl_channels.h"
#include "engine/sim/nccl_checks.h"
#include "engine/sim/nccl_plain.h"
#include "engine/sim/nccl_ramp.h"
#include "engine/sim/nccl_times.h"

namespace shardlab::sim {
namespace {

constexpr std::array algorithms{Algorithm::tree, Algorithm::ring, Algorithm::nvls,
                                Algorithm::nvls_tree, Algorithm::pat};
constexpr std::array protocols{Protocol::ll, Protocol::ll128, Protocol::simple};

// Bytes that leave one domain, in one direction, for each byte of the call.
double crossing_share(const Group& group, Collective collective, Algorithm algorithm) {
  const double ranks = group.ranks;
  switch (collective) {
    case Collective::broadcast:
      return 1;
    case Collective::all_reduce:
      if (algorithm == Algorithm::ring) return 2 * (ranks - 1) / ranks;
      // Of two domains one sends up and the other down; inside a larger tree both come together.
      return group.domains == 2 ? 1 : 2;
    default:
      return (ranks - 1) / ranks;
  }
}

}  // namespace

const char* name_of(Algorithm algorithm) noexcept {
  constexpr std::array names{"tree", "ring", "nvls", "nvls-tree", "pat", "peers", "plain"};
  return names[static_cast<std::size_t>(algorithm)];
}

const char* name_of(Protocol protocol) noexcept {
  constexpr std::array names{"LL", "LL128", "Simple"};
  return names[static_cast<std::size_t>(protocol)];
}

Choice choose(const Wires& wires, const Group& group, Collective collective, double bytes) {
  nccl::check_call(wires, group, bytes);
  if (group.ranks == 1) return {};
  if (wires.sm == 0) return nccl::plain_choice(wires, group, collective, bytes);

  const nccl::Graphs graphs = nccl::search(wires, group);
  const nccl::Call call{wires, group, graphs, collective, bytes};
  Choice choice;
  double least = HUGE_VAL;
  for (const Algorithm algorithm : algorithms)
    for (const Protocol protocol : protocols) {
      const nccl::Cost cost = nccl::cost_of(call, algorithm, protocol, wires.nic_latency_reported);
      if (cost.bandwidth == 0 || cost.seconds(bytes) >= least) continue;
      least = cost.seconds(bytes);
      choice.algorithm = algorithm;
      choice.protocol = protocol;
    }

  const nccl::Cost cost = nccl::cost_of(call, choice.algorithm, choice.protocol, wires.nic_latency);
  choice.latency_seconds = cost.latency;
  choice.bandwidth = cost.bandwidth;
  if (group.domains > 1) {
    const nccl::Nics nics = nccl::nics_of(wires, group);
    const double most =
        nics.count * nics.rate / crossing_share(group, collective, choice.algorithm);
    choice.bandwidth = std::min(choice.bandwidth, most);
  }
  choice.channels = nccl::blocks_of(wires, group, graphs, choice.algorithm, choice.protocol, bytes);
  const double full = nccl::full_chunk_bytes(group, choice.algorithm, choice.protocol,
                                             choice.channels, graphs.nvls.channels);
  const double transfer = bytes / choice.bandwidth;
  choice.ramp_seconds =
      nccl::ramp_seconds(choice.latency_seconds, transfer, full / choice.bandwidth);
  choice.seconds = choice.latency_seconds + transfer + choice.ramp_seconds;
  return choice;
}

Choice choose(const Wires& wires, const Group& group, std::string_view collective, double bytes) {
  constexpr std::array chosen{std::pair{"all_reduce", Collective::all_reduce},
                              std::pair{"all_gather", Collective::all_gather},
                              std::pair{"reduce_scatter", Collective::reduce_scatter},
                              std::pair{"broadcast", Collective::broadcast}};
  for (const auto& [name, known] : chosen)
    if (collective == name) return choose(wires, group, known, bytes);
  if (collective == "all_to_all") return all_to_all(wires, group, bytes);
  if (collective != "send_recv")
    fail(Fault::unsupported, "no model of the collective '{}'", collective);
  std::vector<Piece> ring;
  for (int rank = 0; rank < group.ranks; ++rank)
    ring.push_back({rank, (rank + 1) % group.ranks, bytes});
  return exchange(wires, group, ring);
}

}  // namespace shardlab::sim
