#include "engine/sim/nccl_ramp.h"

#include <algorithm>
#include <cmath>

namespace shardlab::sim::nccl {
namespace {

constexpr double kibi = 1024;

// One step of the receive buffer: a chunk that was never halved.
double step_bytes(Protocol protocol) { return (protocol == Protocol::ll128 ? 600 : 512) * kibi; }

}  // namespace

double full_chunk_bytes(const Group& group, Algorithm algorithm, Protocol protocol, int channels,
                        int nvls_heads) {
  const double gpus = static_cast<double>(group.ranks) / group.domains;
  const double heads = static_cast<double>(channels) * nvls_heads;
  if (protocol == Protocol::ll) return 0;
  switch (algorithm) {
    case Algorithm::nvls:
      return 64 * heads * 128 * kibi;
    case Algorithm::nvls_tree:
      return group.domains < 4 ? 4 * heads * 128 * kibi : heads * 64 * kibi;
    case Algorithm::tree: {
      // Stated for LL128; Simple has no rule of its own.
      const double steps = 1 + std::ilogb(static_cast<double>(group.domains)) + 0.1 * gpus;
      return steps * 64 / gpus * channels * step_bytes(protocol);
    }
    case Algorithm::pat:
      return 32.0 * channels * step_bytes(protocol);
    case Algorithm::ring:
      // Four steps make a chunk. All ranks send from the start, so one a channel fills the ring.
      return 4.0 * channels * step_bytes(protocol);
    default:
      return HUGE_VAL;
  }
}

double ramp_seconds(double latency, double transfer, double full) {
  return std::sqrt(latency * std::min(transfer, full));
}

}  // namespace shardlab::sim::nccl
