#pragma once

#include "engine/sim/nccl.h"

namespace shardlab::sim {

/// 8 H100 on NVSwitch, one 400 Gbit/s InfiniBand NIC each.
inline Wires dgx_h100() {
  Wires wires;
  wires.sm = 90;
  wires.links_per_gpu = 18;
  wires.link_bytes_per_second = 25e9;
  wires.domain = 8;
  wires.nvls = true;
  wires.gpus_per_host = 8;
  wires.nics_per_host = 8;
  wires.nic_bytes_per_second = 50e9;
  return wires;
}

/// 72 GB200 in one NVLink domain, four in a host, one 400 Gbit/s NIC each.
inline Wires gb200_rack() {
  Wires wires = dgx_h100();
  wires.sm = 100;
  wires.cpu = Cpu::arm;
  wires.link_bytes_per_second = 50e9;
  wires.domain = 72;
  wires.gpus_per_host = 4;
  wires.nics_per_host = 4;
  return wires;
}

/// 8 A100 on NVSwitch with four 100 Gbit/s EFA NICs, which report 75 microseconds.
inline Wires p4de() {
  Wires wires = dgx_h100();
  wires.sm = 80;
  wires.links_per_gpu = 12;
  wires.nvls = false;
  wires.nics_per_host = 4;
  wires.nic_bytes_per_second = 12.5e9;
  wires.pcie_bytes_per_second = 24e9;
  wires.nic_latency = wires.nic_latency_reported = 75e-6;
  return wires;
}

/// 8 MI300X, each with one link of 48 GB/s to each other.
inline Wires mi300x() {
  Wires wires;
  wires.sm = 0;
  wires.links_per_gpu = 7;
  wires.link_bytes_per_second = 48e9;
  wires.switched = false;
  wires.domain = 8;
  wires.gpus_per_host = 8;
  return wires;
}

}  // namespace shardlab::sim
