#include <cmath>
#include <string_view>

#include "engine/core/error.h"
#include "engine/sim/nccl_topology.h"

namespace {

void expect(bool ok) {
  if (!ok) __builtin_trap();
}

template <typename Things>
bool place_in(const Things& things, int place) {
  return place >= 0 && place < static_cast<int>(things.size());
}

}  // namespace

// What is read as a topology refers only to what is there, and bridges come before what they hold.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  try {
    const auto found =
        shardlab::sim::read_nccl_topology({reinterpret_cast<const char*>(data), size}, "fuzz");
    expect(!found.pcis.empty());
    for (std::size_t i = 0; i < found.pcis.size(); ++i) {
      expect(found.pcis[i].parent >= -1 && found.pcis[i].parent < static_cast<int>(i));
      expect(place_in(found.cpus, found.pcis[i].cpu));
      expect(found.shared_bridges(0, static_cast<int>(i)) >= 0);
    }
    for (const auto& gpu : found.gpus) expect(place_in(found.pcis, gpu.pci));
    for (const auto& link : found.links) {
      expect(place_in(found.gpus, link.gpu));
      expect(link.target_gpu == -1 || place_in(found.gpus, link.target_gpu));
    }
    for (const auto& net : found.nets) {
      expect(place_in(found.cpus, net.cpu));
      expect(net.pci == -1 || place_in(found.pcis, net.pci));
      expect(std::isfinite(net.bytes_per_second) && net.bytes_per_second >= 0);
    }
    expect(found.gpu_devices >= static_cast<int>(found.gpus.size()));
  } catch (const shardlab::Error& error) {
    expect(error.fault() == shardlab::Fault::invalid);
  }
  return 0;
}
