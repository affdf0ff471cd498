#include "engine/sim/nccl_topology.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/core/error.h"

namespace shardlab::sim {
namespace {

// Two GPUs that are joined by NVLinks, and one NIC, below two bridges.
const std::string host = R"(<system version="1">
  <cpu numaid="0" affinity="ff" arch="x86_64" vendor="AuthenticAMD" familyid="25" modelid="17">
    <pci busid="0000:10:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:11:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="8">
        <gpu dev="0" sm="90" rank="0" gdr="1">
          <nvlink target="0000:21:00.0" count="9" tclass="0x030200"/>
          <nvlink target="0000:f0:00.0" count="3" tclass="0x068000"/>
        </gpu>
      </pci>
      <pci busid="0000:12:00.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16">
        <nic>
          <net name="mlx5_2" dev="0" speed="200000" port="1" latency="1.500000" gdr="1"/>
        </nic>
      </pci>
    </pci>
    <pci busid="0000:20:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:21:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="1" sm="90" rank="1" gdr="1">
          <nvlink target="0000:11:00.0" count="9" tclass="0x030200"/>
        </gpu>
      </pci>
    </pci>
  </cpu>
</system>
)";

NcclTopology read(const std::string& text) { return read_nccl_topology(text, "topo.xml"); }

bool says(const NcclTopology& found, int line, const std::string& part) {
  return std::any_of(found.oddities.begin(), found.oddities.end(), [&](const Oddity& oddity) {
    return oddity.line == line && has(oddity.text, part);
  });
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

std::string error_of(const std::string& text) {
  try {
    (void)read(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::invalid);
    return error.what();
  }
  return "no error";
}

TEST(NcclTopology, HoldsCpusBridgesGpusLinksAndNics) {
  const NcclTopology found = read(host);
  ASSERT_EQ(found.cpus.size(), 1U);
  EXPECT_EQ(found.cpus[0].numa, 0);
  EXPECT_EQ(found.cpus[0].vendor, "AuthenticAMD");
  EXPECT_EQ(found.cpus[0].model, 17);
  ASSERT_EQ(found.pcis.size(), 5U);
  EXPECT_EQ(found.pcis[1].parent, 0);
  EXPECT_EQ(found.pcis[3].parent, -1);
  EXPECT_EQ(found.pcis[1].device_class, 0x030200);
  EXPECT_DOUBLE_EQ(found.pcis[1].transfers_per_second, 16e9);
  EXPECT_EQ(found.pcis[1].lanes, 8);
  ASSERT_EQ(found.gpus.size(), 2U);
  EXPECT_EQ(found.gpus[1].pci, 4);
  EXPECT_EQ(found.gpus[1].rank, 1);
  EXPECT_EQ(found.gpus[1].sm, 90);
  ASSERT_EQ(found.links.size(), 3U);
  EXPECT_EQ(found.links[0].target_gpu, 1);
  EXPECT_EQ(found.links[0].count, 9);
  EXPECT_FALSE(found.links[0].to_switch);
  EXPECT_EQ(found.links[1].target_gpu, -1);
  EXPECT_TRUE(found.links[1].to_switch);
  ASSERT_EQ(found.nets.size(), 1U);
  EXPECT_EQ(found.nets[0].name, "mlx5_2");
  EXPECT_EQ(found.nets[0].pci, 2);
  EXPECT_DOUBLE_EQ(found.nets[0].bytes_per_second, 25e9);  // 200,000 Mbit/s
  EXPECT_DOUBLE_EQ(found.nets[0].latency, 1.5e-6);
  EXPECT_TRUE(found.nets[0].gpu_direct);
  EXPECT_EQ(found.gpu_devices, 2);
  EXPECT_EQ(found.net_devices, 1);
  EXPECT_EQ(found.gpus[0].line, 5);
  EXPECT_TRUE(found.oddities.empty()) << found.oddities[0].text;
}

TEST(NcclTopology, CountsTheBridgesThatTwoDevicesShare) {
  const NcclTopology found = read(host);
  EXPECT_EQ(found.shared_bridges(1, 2), 1);
  EXPECT_EQ(found.shared_bridges(1, 4), 0);
}

TEST(NcclTopology, IsTheSameWithADeclarationCommentsAndADocumentType) {
  const NcclTopology found = read(
      "<?xml version=\"1.0\"?>\n<!DOCTYPE system [ <!ENTITY x \"y\"> ]>\n"
      "<!-- by hand -->\n" +
      host);
  EXPECT_EQ(found.pcis.size(), 5U);
  EXPECT_EQ(found.gpus[0].line, 8);
}

TEST(NcclTopology, SuspectsAVirtualMachineWhereTheTreeIsFlat) {
  const NcclTopology found = read(R"(<system version="1">
<cpu numaid="-1" arch="x86_64">
<pci busid="0000:01:00.0" class="0x030200"><gpu dev="0" sm="90" rank="0"/></pci>
<pci busid="0000:02:00.0" class="0x030200"><gpu dev="1" sm="90" rank="1"/></pci>
</cpu></system>)");
  EXPECT_TRUE(says(found, 0, "no PCI bridge"));
  EXPECT_TRUE(says(found, 2, "NUMA node is not known"));
  EXPECT_TRUE(says(found, 0, "no network device"));
  EXPECT_TRUE(says(found, 0, "no GPU has NVLinks"));
}

TEST(NcclTopology, SaysThatATemplateKnowsItsGpusByTheirClassOnly) {
  std::string text = host;
  for (const char* element : {"<gpu ", "<net "})
    for (std::size_t at; (at = text.find(element)) != std::string::npos;) {
      const std::size_t close =
          element[1] == 'g' ? text.find("</gpu>", at) + 6 : text.find("/>", at) + 2;
      text.erase(at, close - at);
    }
  const NcclTopology found = read(text);
  EXPECT_TRUE(says(found, 0, "2 GPUs are known by their PCI class only"));
  EXPECT_EQ(found.gpu_devices, 2);
  EXPECT_EQ(found.net_devices, 1);
}

TEST(NcclTopology, NamesXgmiAndTheGcnOfAmdGpus) {
  std::string text = host;
  for (std::size_t at; (at = text.find("nvlink")) != std::string::npos;)
    text.replace(at, 6, "xgmi");
  const NcclTopology found = read(replaced(text, "sm=\"90\"", "sm=\"94\" gcn=\"gfx942\""));
  EXPECT_TRUE(found.links[0].xgmi);
  EXPECT_EQ(found.gpus[0].gcn, "gfx942");
  EXPECT_TRUE(says(found, 0, "xGMI"));
}

TEST(NcclTopology, SaysWhichLinksLeadBackInOtherNumbers) {
  const NcclTopology found = read(
      replaced(host, "target=\"0000:11:00.0\" count=\"9\"", "target=\"0000:11:00.0\" count=\"4\""));
  EXPECT_TRUE(says(found, 5, "9 links lead to the GPU of line 18, 4 lead back"));
}

TEST(NcclTopology, SaysThatALinkLeadsNowhereOrToItself) {
  EXPECT_TRUE(says(read(replaced(host, "target=\"0000:21:00.0\"", "target=\"0000:99:00.0\"")), 6,
                   "1 links lead to devices that are not in the file"));
  EXPECT_TRUE(says(read(replaced(host, "target=\"0000:21:00.0\"", "target=\"0000:11:00.0\"")), 6,
                   "linked with itself"));
}

TEST(NcclTopology, SaysThatADeviceIsThereTwiceOrBelowItself) {
  EXPECT_TRUE(says(read(replaced(host, "busid=\"0000:20:00.0\"", "busid=\"0000:12:00.0\"")), 16,
                   "bus id 0000:12:00.0 is there already in line 10"));
  EXPECT_TRUE(says(read(replaced(host, "busid=\"0000:11:00.0\"", "busid=\"0000:10:00.0\"")), 4,
                   "a device cannot be below itself"));
}

TEST(NcclTopology, KeepsHostsWithTheSameBusIdsApart) {
  std::string one = host.substr(host.find("  <cpu"), host.find("</system>") - host.find("  <cpu"));
  std::string two = one;
  one = replaced(one, "<cpu ", "<cpu host_hash=\"0x1\" ");
  two = replaced(two, "<cpu ", "<cpu host_hash=\"0x2\" ");
  two = replaced(replaced(two, "rank=\"0\"", "rank=\"2\""), "rank=\"1\"", "rank=\"3\"");
  const NcclTopology found = read("<system version=\"1\">\n" + one + two + "</system>");
  EXPECT_TRUE(found.oddities.empty()) << found.oddities[0].text;
  EXPECT_EQ(found.links[0].target_gpu, 1);
  EXPECT_EQ(found.links[3].target_gpu, 3);
}

TEST(NcclTopology, SaysWhatAttributesItCannotRead) {
  EXPECT_TRUE(
      says(read(replaced(host, "rank=\"1\"", "rank=\"one\"")), 18, "rank of gpu is no number"));
  EXPECT_TRUE(says(read(replaced(host, "rank=\"1\"", "rank=\"0\"")), 18,
                   "rank 0 is there already in line 5"));
  EXPECT_TRUE(says(read(replaced(host, " sm=\"90\"", "")), 5, "which architecture"));
  EXPECT_TRUE(says(read(replaced(host, "16.0 GT/s PCIe", "fast")), 4, "link_speed is no number"));
  EXPECT_TRUE(says(read(replaced(host, "speed=\"200000\"", "speed=\"-1\"")), 12,
                   "speed of mlx5_2 is not known"));
  EXPECT_TRUE(
      says(read(replaced(host, "<nic>", "<nic><router/>")), 11, "<router> in <nic> is left out"));
}

TEST(NcclTopology, SaysThatANicIsBelowNoDevice) {
  const NcclTopology found = read(replaced(
      host, "  </cpu>", "  <nic><net name=\"eth0\" dev=\"1\" speed=\"100000\"/></nic></cpu>"));
  EXPECT_TRUE(says(found, 23, "eth0 is below no PCI device"));
}

TEST(NcclTopology, IsRefusedWithItsLine) {
  EXPECT_NE(error_of("").find("topo.xml:1: not readable as XML"), std::string::npos);
  EXPECT_NE(error_of(host.substr(0, host.find("</cpu>"))).find("not readable as XML"),
            std::string::npos);
  EXPECT_NE(error_of(replaced(host, "</nic>", "</nix>")).find("topo.xml:13: not readable"),
            std::string::npos);
  EXPECT_NE(error_of("\n<graphs version=\"1\"><graph id=\"0\"/></graphs>")
                .find("topo.xml:2: this is a graph file"),
            std::string::npos);
  EXPECT_NE(error_of("<html><p>no</p></html>").find("expected <system>, found <html>"),
            std::string::npos);
  EXPECT_NE(error_of("<system><cpu numaid=\"0\"/></system>").find("no PCI device"),
            std::string::npos);
}

TEST(NcclTopology, OfBombsAndNoiseIsRefusedInBoundedTimeAndSpace) {
  std::string bomb = "<!DOCTYPE system [ <!ENTITY a0 \"aaaaaaaaaa\">\n";
  for (int i = 1; i < 40; ++i) {
    bomb += "<!ENTITY a" + std::to_string(i) + " \"";
    for (int k = 0; k < 10; ++k) bomb += "&a" + std::to_string(i - 1) + ";";
    bomb += "\">\n";
  }
  const NcclTopology found = read(bomb + "]>\n" + replaced(host, "mlx5_2", "&a39;"));
  EXPECT_EQ(found.nets[0].name, "&a39;");

  std::string deep;
  for (int i = 0; i < 40'000; ++i) deep += "<pci>";
  EXPECT_NE(error_of("<system><cpu>" + deep).find("not readable"), std::string::npos);
  std::string closed = "<system><cpu>";
  for (int i = 0; i < 40; ++i) closed += "<pci>";
  for (int i = 0; i < 40; ++i) closed += "</pci>";
  EXPECT_NE(error_of(closed + "</cpu></system>").find("more than 32 levels"), std::string::npos);

  std::string many = "<system><cpu>";
  while (many.size() < 10'000'000) many += "<pci/>";
  EXPECT_NE(error_of(many + "</cpu></system>").find("more than any topology has"),
            std::string::npos);
  EXPECT_NE(error_of(std::string(10'000'000, 'x')).find("not readable"), std::string::npos);
  EXPECT_NE(error_of(std::string(20'000'000, ' ')).find("more than any topology has"),
            std::string::npos);
}

}  // namespace
}  // namespace shardlab::sim
