#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/sim/text_lines.h"

namespace shardlab::sim {

/// A NUMA node with the CPU cores and PCI devices near it.
struct TopologyCpu {
  int line = 0;
  std::string host;    ///< Tells hosts apart where a file holds several; empty where it is one.
  int numa = -1;       ///< -1 as a virtual machine has it.
  std::string arch;    ///< x86_64, arm64 ...; empty where the file says nothing, as in the next.
  std::string vendor;  ///< As the CPU names itself, GenuineIntel or AuthenticAMD.
  int family = 0;
  int model = 0;
  std::string affinity;  ///< Mask of cores as in the file.
};

/// A PCI device or bridge.
struct TopologyPci {
  int line = 0;
  int cpu = 0;      ///< Its place in cpus.
  int parent = -1;  ///< Place of the bridge above in pcis; -1 right below the CPU.
  std::string busid;
  std::int64_t device_class = 0;    ///< 0x030200 ...; 0 where the file says nothing.
  double transfers_per_second = 0;  ///< Of one lane; 0 where the file says nothing, as in the next.
  int lanes = 0;
};

struct TopologyGpu {
  int line = 0;
  int pci = 0;
  int dev = -1;
  int rank = -1;
  int sm = 0;       ///< 90 for sm90; 0 where the file says nothing.
  std::string gcn;  ///< gfx942 ... of AMD GPUs, empty else.
};

/// NVLinks or, between AMD GPUs, xGMI links in one direction.
struct TopologyLink {
  int line = 0;
  int gpu = 0;
  std::string target;   ///< Its bus id.
  int target_gpu = -1;  ///< Place of the other end in gpus; -1 for a switch or what is not here.
  bool to_switch = false;
  bool xgmi = false;
  int count = 0;
};

struct TopologyNet {
  int line = 0;
  int cpu = 0;
  int pci = -1;  ///< -1 right below the CPU.
  std::string name;
  int dev = -1;
  int port = 0;
  double bytes_per_second = 0;  ///< One direction; 0 where the file says nothing.
  double latency = 0;           ///< Seconds, as the plugin reports it.
  bool gpu_direct = false;
};

/// One host as NCCL sees it, from an NCCL_TOPO_DUMP_FILE or NCCL_TOPO_FILE.
struct NcclTopology {
  std::vector<TopologyCpu> cpus;
  std::vector<TopologyPci> pcis;  ///< A bridge comes before what is below it.
  std::vector<TopologyGpu> gpus;
  std::vector<TopologyLink> links;
  std::vector<TopologyNet> nets;
  int gpu_devices = 0;  ///< PCI devices with a GPU or of a GPU's class, whichever are more.
  int net_devices = 0;  ///< The same of network devices.
  std::vector<Oddity> oddities;

  /// Bridges between the two that both are below; 0 if they only share a CPU or nothing.
  [[nodiscard]] int shared_bridges(int pci_a, int pci_b) const;
};

/// Reads NCCL's topology XML. Entities of a document type are never expanded, and references
/// between devices are looked up by name, so neither bombs nor cycles can grow.
///
/// Cost     Linear in the text, which has at most 16 MiB, 100,000 elements and 32 levels.
/// Errors   invalid with file and line: not well-formed, not a topology, beyond these limits, or
///          without any PCI device.
[[nodiscard]] NcclTopology read_nccl_topology(std::string_view text, std::string_view name);

}  // namespace shardlab::sim
