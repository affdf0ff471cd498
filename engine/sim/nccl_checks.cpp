#include "engine/sim/nccl_checks.h"

#include <cmath>

#include "engine/core/check.h"
#include "engine/sim/nccl_channels.h"
#include "engine/sim/nccl_tables.h"

namespace shardlab::sim::nccl {

void check_call(const Wires& wires, const Group& group, double bytes) {
  check(bytes >= 0 && std::isfinite(bytes), "collective: expected bytes of at least 0, found {}",
        bytes);
  check(
      group.ranks >= 1 && group.domains >= 1 && group.domains <= group.ranks &&
          group.concurrent >= 1,
      "collective: {} ranks in {} domains, {} groups at once: expected at least one rank a domain",
      group.ranks, group.domains, group.concurrent);
  if (wires.sm != 0) check_generation(wires.sm);
  const int gpus = per_domain(group);
  check(gpus <= wires.domain || wires.links_per_gpu == 0,
        "collective: {} ranks in one domain, which joins {} GPUs", gpus, wires.domain);
  check(wires.gpus_per_host >= 1 && wires.domain >= 1,
        "wires: expected at least one GPU a host and a domain, found {} and {}",
        wires.gpus_per_host, wires.domain);
  if (gpus > 1)
    check(domain_rate(wires, group) > 0,
          "wires: {} ranks share a domain, but its links have no rate: {} links of {} bytes/s",
          gpus, wires.links_per_gpu, wires.link_bytes_per_second);
  if (group.domains > 1)
    check(wires.nics_per_host >= 1 && wires.nic_bytes_per_second > 0 &&
              wires.pcie_bytes_per_second > 0,
          "wires: {} domains need a network, found {} NICs a host of {} bytes/s behind {} bytes/s",
          group.domains, wires.nics_per_host, wires.nic_bytes_per_second,
          wires.pcie_bytes_per_second);
}

}  // namespace shardlab::sim::nccl
