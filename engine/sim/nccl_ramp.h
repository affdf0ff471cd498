#pragma once

#include "engine/sim/nccl.h"

namespace shardlab::sim::nccl {

/// Bytes of a call from which its chunks no longer grow: NCCL halves them for smaller calls until
/// enough are in the pipeline. 0 with LL, whose receivers take every 8 bytes as they come.
///
/// Source   NCCL 2.28.9, src/enqueue.cc: the rules for chunks of each algorithm.
[[nodiscard]] double full_chunk_bytes(const Group& group, Algorithm algorithm, Protocol protocol,
                                      int channels, int nvls_heads);

/// What filling a pipeline costs beyond latency + bytes / bandwidth.
///
/// A call of transfer time t is cut into k chunks that pass d hops. The last hop waits d t/k for
/// its first chunk, and each chunk costs an overhead o again, so that
///     T(k) = latency + t + d t/k + k o,   least at k = sqrt(d t / o),   by 2 sqrt(d o t).
/// d o is the part of the latency that every chunk pays: hops, but neither the launch nor what
/// hops do at the same time. With a quarter of it the ramp is sqrt(latency * t). Once chunks are
/// as long as they get, at t = full, the first term is constant and the second belongs to the
/// bandwidth, which NCCL's authors measured on long calls; hence the ramp stops growing.
///
/// The quarter is the one number here that no source states. It is a round one: with each of
/// four public logs left out in turn, the others ask for 0.70 to 0.85 times sqrt(latency * t).
[[nodiscard]] double ramp_seconds(double latency, double transfer, double full);

}  // namespace shardlab::sim::nccl
