#include "engine/sim/sheet.h"

#include <algorithm>
#include <array>

namespace shardlab::sim {
namespace {

using enum Dimension;
using enum Need;

// clang-format off
constexpr std::array numbers{
    KnownNumber{"gpu.memory", bytes, always, false,
                "Device memory that the driver reports as total."},
    KnownNumber{"gpu.memory_bandwidth", bytes_per_second, always, false,
                "Peak rate of device memory, reads and writes together."},
    KnownNumber{"gpu.cache", bytes, optional, false,
                "Last-level cache."},
    KnownNumber{"gpu.processors", count, gpu, false,
                "Multiprocessors; communication takes some of them from kernels."},
    KnownNumber{"gpu.clock", hertz, optional, false,
                "Highest clock of the multiprocessors."},
    KnownNumber{"gpu.power", watts, optional, false,
                "Power limit of one GPU."},
    KnownNumber{"gpu.peak.float64", flop_per_second, always, false,
                "Peak of float64 products, matrix units included."},
    KnownNumber{"gpu.peak.float32", flop_per_second, always, false,
                "Peak of exact float32 products."},
    KnownNumber{"gpu.peak.tf32", flop_per_second, optional, false,
                "Dense peak of float32 products computed as tf32."},
    KnownNumber{"gpu.peak.bfloat16", flop_per_second, always, false,
                "Dense peak of bfloat16 products."},
    KnownNumber{"gpu.peak.float16", flop_per_second, always, false,
                "Dense peak of float16 products."},
    KnownNumber{"gpu.peak.float8", flop_per_second, optional, false,
                "Dense peak of 8-bit float products."},
    KnownNumber{"gpu.launch", seconds, always, true,
                "What a kernel costs on the device besides its work: the gap to the one before."},
    KnownNumber{"gpu.context", bytes, gpu, true,
                "Device memory of a process before it allocates anything."},
    KnownNumber{"gpu.workspace", bytes, gpu, true,
                "Scratch memory of the matrix product library."},
    KnownNumber{"allocator.granule", bytes, gpu, false,
                "Requests are rounded up to a multiple of this."},
    KnownNumber{"allocator.segment", bytes, gpu, false,
                "What a caching allocator asks of the driver is a multiple of this."},
    KnownNumber{"allocator.large_segment", bytes, gpu, false,
                "What a caching allocator asks for to serve requests of 1 to 10 MiB."},
    KnownNumber{"host.gpus", count, always, false,
                "GPUs of one host."},
    KnownNumber{"host.launch", seconds, always, true,
                "Host time to submit one kernel, without the framework above it."},
    KnownNumber{"host.memory_bandwidth", bytes_per_second, optional, false,
                "Peak rate of host memory."},
    KnownNumber{"host.copy_bandwidth", bytes_per_second, gpu, false,
                "Rate of copies between host memory and one GPU, one direction."},
    KnownNumber{"host.busy_compute", share, optional, false,
                "Share of its rate that a product keeps while all GPUs of the host work."},
    KnownNumber{"host.busy_memory", share, optional, false,
                "Share of its rate that a kernel bound by memory keeps while all of them work."},
    KnownNumber{"nvlink.links", count, gpu, true,
                "Fast links of one GPU: NVLink or its like of other vendors; 0 for none."},
    KnownNumber{"nvlink.link_bandwidth", bytes_per_second, gpu, true,
                "Line rate of one fast link, one direction."},
    KnownNumber{"nvlink.domain", count, always, false,
                "GPUs that reach each other over fast links; 1 where there are none."},
    KnownNumber{"nvlink.copy_bandwidth", bytes_per_second, optional, false,
                "Rate of a copy from one GPU to another over all fast links between them."},
    KnownNumber{"nvlink.latency", seconds, optional, false,
                "Time of one load from the memory of another GPU."},
    KnownNumber{"nic.count", count, always, true,
                "Network ports of one host that GPUs use; 0 for none."},
    KnownNumber{"nic.bandwidth", bytes_per_second, gpu, false,
                "Line rate of one network port, one direction."},
    KnownNumber{"nic.usable_bandwidth", bytes_per_second, optional, false,
                "Best payload rate of one network port, one direction."},
    KnownNumber{"nic.latency", seconds, gpu, true,
                "Latency that the network plugin reports to NCCL; 0 for InfiniBand and RoCE."},
    KnownNumber{"fabric.latency", seconds, gpu, false,
                "Time of a small message from one host to another, one way."},
    KnownNumber{"nccl.buffer", bytes, gpu, true,
                "Device memory of one NCCL connection: one channel to one peer, all protocols."},
    KnownNumber{"nccl.communicator", bytes, gpu, true,
                "Device memory of one NCCL communicator over the GPUs of a host."},
};

constexpr std::array words{
    KnownWord{"gpu.name", always, "",
              "The device as people call it."},
    KnownWord{"gpu.arch", always, "sm80 sm90 sm100 gfx942 cpu",
              "Which tables of constants fit the device."},
    KnownWord{"host.cpu", always, "intel amd arm",
              "Vendor of the host processor; NCCL's tables depend on it."},
    KnownWord{"nvlink.kind", gpu, "switch mesh none",
              "How fast links join GPUs: through switches, pairwise, or not at all."},
    KnownWord{"fabric.kind", gpu, "infiniband roce efa tcpxo ethernet none",
              "The network between hosts."},
};
// clang-format on

template <typename Known>
const Known* find(std::span<const Known> all, std::string_view path) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [path](const Known& known) { return known.path == path; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

std::span<const KnownNumber> known_numbers() { return numbers; }
std::span<const KnownWord> known_words() { return words; }

const KnownNumber* find_number(std::string_view path) { return find(known_numbers(), path); }
const KnownWord* find_word(std::string_view path) { return find(known_words(), path); }

std::string_view known_collectives() {
  return "all_reduce all_gather reduce_scatter all_to_all send_recv broadcast";
}

bool among(std::string_view word, std::string_view all) {
  while (!all.empty()) {
    const std::size_t end = std::min(all.find(' '), all.size());
    if (all.substr(0, end) == word) return true;
    all.remove_prefix(std::min(end + 1, all.size()));
  }
  return false;
}

}  // namespace shardlab::sim
