#include "engine/sim/nccl_topology.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <pugixml.hpp>

#include "engine/core/check.h"

namespace shardlab::sim {
namespace {

constexpr std::size_t most_bytes = std::size_t{16} << 20;
constexpr std::ptrdiff_t most_elements = 100'000;
constexpr std::ptrdiff_t most_attributes = 1'000'000;
constexpr int most_levels = 32;
constexpr std::int64_t switch_class = 0x068000;

/// The kind of a PCI device is in the first of three bytes of its class.
int kind_of(std::int64_t device_class) { return static_cast<int>(device_class >> 16); }
constexpr int network_kind = 0x02;
constexpr int display_kind = 0x03;
constexpr int accelerator_kind = 0x12;

std::optional<std::int64_t> hexadecimal(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

class TopologyReader {
 public:
  TopologyReader(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  NcclTopology read();

 private:
  struct Inside {
    int cpu = -1;
    int pci = -1;
    int gpu = -1;
  };

  void check_size() const;
  void walk(pugi::xml_node element, Inside inside, int level);
  int read_cpu(pugi::xml_node element);
  int read_pci(pugi::xml_node element, Inside inside);
  int read_gpu(pugi::xml_node element, Inside inside);
  void read_link(pugi::xml_node element, Inside inside);
  void read_net(pugi::xml_node element, Inside inside);
  void join_links();
  void count_devices();
  void look_at_host();
  void look_at_tree();

  [[nodiscard]] int line_at(std::ptrdiff_t offset) const;
  [[nodiscard]] int line_of(pugi::xml_node element) const {
    return line_at(element.offset_debug());
  }
  [[nodiscard]] const std::string& host_of(int cpu) const {
    return topology_.cpus[static_cast<std::size_t>(cpu)].host;
  }
  [[nodiscard]] std::int64_t number(pugi::xml_node element, const char* key,
                                    std::int64_t otherwise);
  [[nodiscard]] double real(pugi::xml_node element, const char* key);
  void odd(int line, std::string text) { note(topology_.oddities, line, std::move(text)); }

  std::string_view text_;
  std::string name_;
  std::vector<std::ptrdiff_t> line_ends_;
  NcclTopology topology_;
  std::map<std::pair<std::string, std::string>, int> places_;  ///< Of host and bus id in pcis.
  std::map<int, int> rank_lines_;
};

int TopologyReader::line_at(std::ptrdiff_t offset) const {
  const auto before = std::lower_bound(line_ends_.begin(), line_ends_.end(), offset);
  return static_cast<int>(before - line_ends_.begin()) + 1;
}

std::int64_t TopologyReader::number(pugi::xml_node element, const char* key,
                                    std::int64_t otherwise) {
  const std::string_view text = element.attribute(key).value();
  if (text.empty()) return otherwise;
  const auto value = text.starts_with("0x") ? hexadecimal(text) : whole_number(text);
  if (value && *value >= -1 && *value < 1'000'000'000) return *value;
  odd(line_of(element),
      fmt::format("{} of {} is no number in range: {}", key, plain(element.name()), quote(text)));
  return otherwise;
}

double TopologyReader::real(pugi::xml_node element, const char* key) {
  const std::string_view text = element.attribute(key).value();
  if (text.empty()) return 0;
  if (const auto value = rounded_number(text); value && value->value >= 0 && value->value < 1e12)
    return value->value;
  odd(line_of(element),
      fmt::format("{} of {} is no number from 0 on: {}", key, plain(element.name()), quote(text)));
  return 0;
}

void TopologyReader::check_size() const {
  check(text_.size() <= most_bytes, "{}: {} bytes, more than any topology has (at most {})", name_,
        text_.size(), most_bytes);
  const auto elements = std::count(text_.begin(), text_.end(), '<');
  const auto attributes = std::count(text_.begin(), text_.end(), '=');
  const auto lines = std::count(text_.begin(), text_.end(), '\n');
  check(elements <= most_elements && attributes <= most_attributes && lines <= most_attributes,
        "{}: {} marks '<', {} marks '=' and {} lines, more than any topology has", name_, elements,
        attributes, lines);
}

NcclTopology TopologyReader::read() {
  check_size();
  for (std::size_t at = text_.find('\n'); at != std::string_view::npos;
       at = text_.find('\n', at + 1))
    line_ends_.push_back(static_cast<std::ptrdiff_t>(at));
  pugi::xml_document document;
  const pugi::xml_parse_result result =
      document.load_buffer(text_.data(), text_.size(), pugi::parse_default, pugi::encoding_utf8);
  check(static_cast<bool>(result), "{}: not readable as XML: {}",
        place(name_, line_at(result.offset)), result.description());
  const pugi::xml_node root = document.document_element();
  const std::string_view kind = root.name();
  check(kind != "graphs", "{}: this is a graph file of NCCL (NCCL_GRAPH_FILE), not a topology",
        place(name_, line_of(root)));
  check(kind == "system", "{}: expected <system>, found <{}>", place(name_, line_of(root)),
        plain(kind));
  walk(root, Inside(), 1);
  check(!topology_.pcis.empty(), "{}: the topology has no PCI device", name_);
  join_links();
  count_devices();
  look_at_host();
  look_at_tree();
  return std::move(topology_);
}

void TopologyReader::walk(pugi::xml_node parent, Inside inside, int level) {
  check(level <= most_levels, "{}: elements are nested more than {} levels deep",
        place(name_, line_of(parent)), most_levels);
  for (const pugi::xml_node element : parent.children()) {
    if (element.type() != pugi::node_element) continue;
    const std::string_view kind = element.name();
    Inside within = inside;
    if (kind == "cpu") {
      within = {read_cpu(element), -1, -1};
    } else if (inside.cpu < 0) {
      odd(line_of(element), fmt::format("<{}> outside of a <cpu> is left out", plain(kind)));
      continue;
    } else if (kind == "pci") {
      within.pci = read_pci(element, inside);
    } else if (kind == "gpu" && inside.pci >= 0) {
      within.gpu = read_gpu(element, inside);
    } else if ((kind == "nvlink" || kind == "xgmi") && inside.gpu >= 0) {
      read_link(element, inside);
    } else if (kind == "net") {
      read_net(element, inside);
    } else if (kind != "nic") {
      odd(line_of(element),
          fmt::format("<{}> in <{}> is left out", plain(kind), plain(parent.name())));
      continue;
    }
    walk(element, within, level + 1);
  }
}

int TopologyReader::read_cpu(pugi::xml_node element) {
  TopologyCpu cpu;
  cpu.line = line_of(element);
  cpu.numa = static_cast<int>(number(element, "numaid", -1));
  cpu.host = plain(element.attribute("host_hash").value());
  cpu.arch = plain(element.attribute("arch").value());
  cpu.vendor = plain(element.attribute("vendor").value());
  cpu.family = static_cast<int>(number(element, "familyid", 0));
  cpu.model = static_cast<int>(number(element, "modelid", 0));
  cpu.affinity = plain(element.attribute("affinity").value());
  topology_.cpus.push_back(std::move(cpu));
  return static_cast<int>(topology_.cpus.size()) - 1;
}

int TopologyReader::read_pci(pugi::xml_node element, Inside inside) {
  TopologyPci pci;
  pci.line = line_of(element);
  pci.cpu = inside.cpu;
  pci.parent = inside.pci;
  pci.busid = plain(element.attribute("busid").value());
  pci.device_class = number(element, "class", 0);
  pci.lanes = static_cast<int>(number(element, "link_width", 0));
  // As in "16.0 GT/s PCIe".
  const auto speed = words_of(element.attribute("link_speed").value());
  const auto rate = speed.empty() ? std::nullopt : rounded_number(speed[0]);
  if (rate && rate->value > 0 && rate->value < 1000 && speed.size() > 1 && speed[1] == "GT/s")
    pci.transfers_per_second = rate->value * 1e9;
  else if (!speed.empty() && speed[0] != "Unknown")
    odd(pci.line, fmt::format("link_speed is no number of GT/s: {}",
                              quote(element.attribute("link_speed").value())));
  const auto place = static_cast<int>(topology_.pcis.size());
  if (pci.busid.empty()) {
    odd(pci.line, "a PCI device has no bus id");
  } else if (const auto [first, fresh] =
                 places_.emplace(std::pair(host_of(pci.cpu), pci.busid), place);
             !fresh) {
    int above = inside.pci;
    while (above >= 0 && above != first->second)
      above = topology_.pcis[static_cast<std::size_t>(above)].parent;
    odd(pci.line, fmt::format("bus id {} is there already in line {}{}", pci.busid,
                              topology_.pcis[static_cast<std::size_t>(first->second)].line,
                              above >= 0 ? ": a device cannot be below itself" : ""));
  }
  topology_.pcis.push_back(std::move(pci));
  return place;
}

int TopologyReader::read_gpu(pugi::xml_node element, Inside inside) {
  TopologyGpu gpu;
  gpu.line = line_of(element);
  gpu.pci = inside.pci;
  gpu.dev = static_cast<int>(number(element, "dev", -1));
  gpu.rank = static_cast<int>(number(element, "rank", -1));
  gpu.sm = static_cast<int>(number(element, "sm", 0));
  gpu.gcn = plain(element.attribute("gcn").value());
  if (gpu.sm <= 0) odd(gpu.line, "a GPU does not say which architecture (sm) it is");
  if (gpu.rank >= 0)
    if (const auto [first, fresh] = rank_lines_.emplace(gpu.rank, gpu.line); !fresh)
      odd(gpu.line, fmt::format("rank {} is there already in line {}", gpu.rank, first->second));
  topology_.gpus.push_back(std::move(gpu));
  return static_cast<int>(topology_.gpus.size()) - 1;
}

void TopologyReader::read_link(pugi::xml_node element, Inside inside) {
  TopologyLink link;
  link.line = line_of(element);
  link.gpu = inside.gpu;
  link.target = plain(element.attribute("target").value());
  link.xgmi = std::strcmp(element.name(), "xgmi") == 0;
  link.count = static_cast<int>(number(element, "count", 0));
  link.to_switch = number(element, "tclass", 0) == switch_class;
  if (link.count <= 0) odd(link.line, "a link does not say how many there are");
  topology_.links.push_back(std::move(link));
}

void TopologyReader::read_net(pugi::xml_node element, Inside inside) {
  TopologyNet net;
  net.line = line_of(element);
  net.cpu = inside.cpu;
  net.pci = inside.pci;
  net.name = plain(element.attribute("name").value());
  net.dev = static_cast<int>(number(element, "dev", -1));
  net.port = static_cast<int>(number(element, "port", 0));
  // NCCL writes Mbit/s and microseconds.
  net.bytes_per_second = real(element, "speed") * 1e6 / 8;
  net.latency = real(element, "latency") * 1e-6;
  net.gpu_direct = number(element, "gdr", 0) > 0;
  if (net.bytes_per_second <= 0)
    odd(net.line, fmt::format("the speed of {} is not known", net.name));
  if (net.pci < 0)
    odd(net.line,
        fmt::format("{} is below no PCI device: how far each GPU is from it is unknown", net.name));
  topology_.nets.push_back(std::move(net));
}

void TopologyReader::join_links() {
  std::map<int, int> gpu_at;
  for (std::size_t i = 0; i < topology_.gpus.size(); ++i)
    gpu_at.emplace(topology_.gpus[i].pci, static_cast<int>(i));
  std::map<std::pair<int, int>, int> counts;
  int lost = 0;
  int first_lost = 0;
  for (TopologyLink& link : topology_.links) {
    const int from = topology_.gpus[static_cast<std::size_t>(link.gpu)].pci;
    const int cpu = topology_.pcis[static_cast<std::size_t>(from)].cpu;
    const auto pci = places_.find({host_of(cpu), link.target});
    const auto gpu = pci == places_.end() ? gpu_at.end() : gpu_at.find(pci->second);
    if (gpu != gpu_at.end()) {
      link.target_gpu = gpu->second;
      counts[{link.gpu, link.target_gpu}] += link.count;
      if (link.target_gpu == link.gpu) odd(link.line, "a GPU is linked with itself");
    } else if (!link.to_switch && lost++ == 0) {
      first_lost = link.line;
    }
  }
  if (lost > 0)
    odd(first_lost,
        fmt::format("{} links lead to devices that are not in the file, the first here", lost));
  for (const auto& [ends, count] : counts) {
    const auto back = counts.find({ends.second, ends.first});
    const int other = back == counts.end() ? 0 : back->second;
    if (count > other)
      odd(topology_.gpus[static_cast<std::size_t>(ends.first)].line,
          fmt::format("{} links lead to the GPU of line {}, {} lead back", count,
                      topology_.gpus[static_cast<std::size_t>(ends.second)].line, other));
  }
}

void TopologyReader::count_devices() {
  int gpus = 0;
  int nets = 0;
  for (const TopologyPci& pci : topology_.pcis) {
    const int kind = kind_of(pci.device_class);
    gpus += kind == display_kind || kind == accelerator_kind ? 1 : 0;
    nets += kind == network_kind ? 1 : 0;
  }
  topology_.gpu_devices = std::max(gpus, static_cast<int>(topology_.gpus.size()));
  topology_.net_devices = std::max(nets, static_cast<int>(topology_.nets.size()));
  if (topology_.gpus.empty() && gpus > 0)
    odd(0, fmt::format("{} GPUs are known by their PCI class only, as in a template for virtual "
                       "machines: no ranks, architecture or links",
                       gpus));
  else if (topology_.gpus.empty())
    odd(0, "no device says that it is a GPU");
  if (topology_.net_devices == 0) odd(0, "no network device: the NICs may be in another file");
}

void TopologyReader::look_at_host() {
  for (const TopologyCpu& cpu : topology_.cpus) {
    if (cpu.numa < 0)
      odd(cpu.line, "the NUMA node is not known, as in a virtual machine without NUMA");
    if (cpu.arch.empty()) odd(cpu.line, "the CPU's architecture and vendor are not given");
  }
  if (std::any_of(topology_.links.begin(), topology_.links.end(),
                  [](const TopologyLink& link) { return link.xgmi; }))
    odd(0, "GPUs are joined by xGMI: an AMD host, which NCCL's rules do not price");
  if (topology_.gpus.size() > 1 && topology_.links.empty()) odd(0, "no GPU has NVLinks");
}

/// In a flat tree all PCI paths look equal, which misleads NCCL and everything that reads it.
void TopologyReader::look_at_tree() {
  bool any_gpu = false;
  bool bridged = false;
  const auto below_bridge = [this](int pci) {
    return topology_.pcis[static_cast<std::size_t>(pci)].parent >= 0;
  };
  for (const TopologyGpu& gpu : topology_.gpus) {
    any_gpu = true;
    bridged = bridged || below_bridge(gpu.pci);
  }
  if (any_gpu && !bridged)
    odd(0, "every GPU is right below a CPU, with no PCI bridge: as a virtual machine sees it");
}

}  // namespace

int NcclTopology::shared_bridges(int pci_a, int pci_b) const {
  const auto bridges_above = [this](int pci) {
    std::vector<int> above;
    for (int at = pcis[static_cast<std::size_t>(pci)].parent; at >= 0;
         at = pcis[static_cast<std::size_t>(at)].parent)
      above.push_back(at);
    return above;
  };
  const std::vector<int> a = bridges_above(pci_a);
  const std::vector<int> b = bridges_above(pci_b);
  return static_cast<int>(std::count_if(a.begin(), a.end(), [&](int bridge) {
    return std::find(b.begin(), b.end(), bridge) != b.end();
  }));
}

NcclTopology read_nccl_topology(std::string_view text, std::string_view name) {
  return TopologyReader(text, name).read();
}

}  // namespace shardlab::sim
