#include "engine/sim/host_wires.h"

#include <gtest/gtest.h>

#include "engine/sim/machines.h"

namespace shardlab::sim {
namespace {

HostWires of_matrix(const std::string& text, int most_links) {
  return wires_of(GpuMatrix::read(text, "topo.txt"), most_links);
}

// All 12 links of a GPU are shown to each of two others, 24 in all and more than it has.
TEST(HostWires, EqualPairsWithMoreLinksThanAGpuHasAreSwitched) {
  const HostWires wires =
      of_matrix("     GPU0 GPU1 GPU2\nGPU0 X NV12 NV12\nGPU1 NV12 X NV12\nGPU2 NV12 NV12 X\n", 12);
  EXPECT_EQ(wires.kind, "switch");
  EXPECT_EQ(wires.links, 12);
  EXPECT_EQ(wires.domain, 3);
  EXPECT_EQ(wires.gpus, 3);
  EXPECT_FALSE(wires.nics.has_value());
}

// 4 + 4 links of at most 12 fit beside each other.
TEST(HostWires, PairsWhoseLinksAddUpAreAMesh) {
  const HostWires wires =
      of_matrix("     GPU0 GPU1 GPU2\nGPU0 X NV4 NV4\nGPU1 NV4 X NV4\nGPU2 NV4 NV4 X\n", 12);
  EXPECT_EQ(wires.kind, "mesh");
  EXPECT_EQ(wires.links, 8);
}

TEST(HostWires, WithoutLinksEachGpuIsADomain) {
  const HostWires wires = of_matrix("     GPU0 GPU1\nGPU0 X PHB\nGPU1 PHB X\n", 0);
  EXPECT_EQ(wires.kind, "none");
  EXPECT_EQ(wires.links, 0);
  EXPECT_EQ(wires.domain, 1);
}

// Of three ports one is a PCIe switch away from a GPU; the others are for other things.
TEST(HostWires, PortsNearAGpuCount) {
  const HostWires wires = of_matrix(
      "     GPU0 GPU1 NIC0 NIC1 NIC2\n"
      "GPU0 X NV4 PIX NODE SYS\nGPU1 NV4 X PIX NODE SYS\n"
      "NIC0 PIX PIX X NODE SYS\nNIC1 NODE NODE NODE X SYS\nNIC2 SYS SYS SYS SYS X\n",
      4);
  EXPECT_EQ(wires.nics, 1);
  ASSERT_FALSE(wires.notes.empty());
}

TEST(HostWires, OnlyWhatDiffersIsCorrected) {
  const Machine machine = find_machine("dgx-h100");
  HostWires wires;
  wires.gpus = 8;
  wires.links = 18;
  wires.domain = 8;
  wires.kind = "switch";
  wires.nics = 4;
  const Machine own = corrected(machine, wires, "topo.txt");
  ASSERT_EQ(own.numbers.size(), 1U);
  EXPECT_EQ(own.value("nic.count"), 4);
  EXPECT_EQ(own.number("nic.count").source, Source::user_measured);
  EXPECT_TRUE(own.words.empty());
}

// A tray of 4 shows 4 GPUs of a domain of 72, which stays.
TEST(HostWires, ADomainOfSeveralHostsStays) {
  const Machine machine = find_machine("gb200-nvl72");
  HostWires wires;
  wires.gpus = 4;
  wires.domain = 4;
  EXPECT_TRUE(corrected(machine, wires, "topo.txt").numbers.empty());
}

// Two GPUs with 4 + 4 links to switches, and a port of 100 Gbit/s at 75 us.
TEST(HostWires, ATopologyOfNcclNamesLinksAndPorts) {
  const char* const text = R"(<system version="1">
<cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="85">
<pci busid="0000:00:01.0" class="0x030200" link_speed="16 GT/s" link_width="16">
<gpu dev="0" sm="90" rank="0" gdr="1">
<nvlink target="0000:00:08.0" count="4" tclass="0x068000"/>
<nvlink target="0000:00:09.0" count="4" tclass="0x068000"/></gpu></pci>
<pci busid="0000:00:02.0" class="0x030200" link_speed="16 GT/s" link_width="16">
<gpu dev="1" sm="90" rank="1" gdr="1">
<nvlink target="0000:00:08.0" count="4" tclass="0x068000"/>
<nvlink target="0000:00:09.0" count="4" tclass="0x068000"/></gpu></pci>
<nic><net name="a" dev="0" speed="100000" port="1" latency="75.0" guid="0x1" maxconn="1" gdr="1"/>
</nic></cpu></system>)";
  const HostWires wires = wires_of(read_nccl_topology(text, "topo.xml"));
  EXPECT_EQ(wires.gpus, 2);
  EXPECT_EQ(wires.links, 8);
  EXPECT_EQ(wires.kind, "switch");
  EXPECT_EQ(wires.nics, 1);
  EXPECT_DOUBLE_EQ(*wires.nic_bytes_per_second, 12.5e9);
  EXPECT_DOUBLE_EQ(*wires.nic_latency, 75e-6);
}

}  // namespace
}  // namespace shardlab::sim
