#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace shardlab::sim {

/// Who made the CPUs of the hosts: it decides what posting to a NIC costs.
enum class Cpu : std::uint8_t { intel, amd, arm };

/// Collectives that NCCL chooses an algorithm for.
enum class Collective : std::uint8_t { all_reduce, all_gather, reduce_scatter, broadcast };

/// How bytes go round.
enum class Algorithm : std::uint8_t {
  tree,
  ring,
  nvls,       ///< Reduced in the NVLink switch.
  nvls_tree,  ///< The same, and a tree between domains.
  pat,        ///< Parallel trees; one GPU a domain only.
  peers,      ///< Straight to each peer.
  plain,      ///< No tables for these wires: rings and trees of latency and rate alone.
};

/// How NCCL's receivers learn that data is there.
enum class Protocol : std::uint8_t { ll, ll128, simple };

[[nodiscard]] const char* name_of(Algorithm algorithm) noexcept;
[[nodiscard]] const char* name_of(Protocol protocol) noexcept;

/// What NCCL knows of the wires.
///
/// Units    Seconds and bytes/s, line rates of one direction. NCCL's own discounts, its few speeds
///          and its caps a thread block are applied here: twice the wire need not be twice as fast.
struct Wires {
  int sm = 90;  ///< 70, 80, 90 or 100; 0: not NVIDIA's, priced by rates and latencies alone.
  Cpu cpu = Cpu::intel;
  int links_per_gpu = 0;  ///< NVLinks, or links of a mesh.
  double link_bytes_per_second = 0;
  bool switched = true;  ///< Every link reaches every GPU; else each has 1/(domain - 1) of them.
  int domain = 1;        ///< GPUs that those links join.
  bool nvls = false;     ///< The switch reduces.
  int gpus_per_host = 1;
  int nics_per_host = 0;
  double nic_bytes_per_second = 0;
  double pcie_bytes_per_second = 48e9;  ///< Between a GPU and its NIC.
  double nic_latency = 0;  ///< One way, beyond NCCL's tables for a network; with sm 0 all of it.
  double nic_latency_reported = 0;  ///< What the plugin tells NCCL; it sways the choice only.
  bool near_nics = true;            ///< No CPU lies between GPU and NIC: allows LL128.
  double launch = 8e-6;             ///< With sm 0: start of a collective.
  double link_latency = 2e-6;       ///< With sm 0: one hop inside a domain.
};

/// Where the ranks of a communicator lie.
struct Group {
  int ranks = 1;
  int domains = 1;     ///< NVLink domains spanned, with as many ranks in each.
  int concurrent = 1;  ///< Equal groups that share the NICs of a domain at the same time.
};

/// What NCCL does with a call, and how long that takes.
///
/// Units    Seconds, bytes/s.
struct Choice {
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  int channels = 1;            ///< Thread blocks, each of which keeps one SM busy.
  double seconds = 0;          ///< All of it: latency, bytes by bandwidth, ramp.
  double latency_seconds = 0;  ///< What no bytes would take.
  double ramp_seconds = 0;     ///< Filling the pipeline, and chunks too short for full speed.
  double bandwidth = 0;        ///< Of the algorithm at this size: bytes of the call by seconds.
};

/// NCCL's own closed-form choice for a collective and its time, with the ramp that it leaves out.
///
/// `bytes` counts as NCCL does: the whole tensor, which for all_gather is the result and for
/// reduce_scatter the operand.
///
/// Cost     About a microsecond; nothing is allocated.
/// Errors   Error{invalid} on a group that does not fit the wires, negative bytes, unknown sm.
/// Source   NCCL 2.28.9, src/graph/tuning.cc and search.cc. Nothing is fitted to a log; the ramp
///          (nccl_ramp.h) has one round constant.
[[nodiscard]] Choice choose(const Wires& wires, const Group& group, Collective collective,
                            double bytes);

/// Bytes that one rank sends to another in one grouped call; ranks lie domain by domain.
struct Piece {
  int from = 0;
  int to = 0;
  double bytes = 0;
};

/// Sends and receives grouped into one call; the busiest port decides. Pieces below 16 KiB go as
/// LL. Latencies are those of a ring's step, and a microsecond or two for each network peer after
/// the first; no public log shows small exchanges, so these are not validated.
///
/// Cost     Linear in pieces and ranks.
/// Errors   Error{invalid} as `choose`, and on a piece of ranks that do not exist.
[[nodiscard]] Choice exchange(const Wires& wires, const Group& group,
                              std::span<const Piece> pieces);

/// Every rank sends an equal part of `bytes` to every rank; what it sends itself is free.
///
/// Cost     Tens of nanoseconds.
[[nodiscard]] Choice all_to_all(const Wires& wires, const Group& group, double bytes);

/// Any of them by its name in traces and logs; send_recv is a ring of all ranks.
///
/// Errors   Error{unsupported} for a name that no model is of.
[[nodiscard]] Choice choose(const Wires& wires, const Group& group, std::string_view collective,
                            double bytes);

/// Every rank exchanges `bytes` with the next one and the one before; the line closes to a ring
/// or ends.
[[nodiscard]] Choice halo(const Wires& wires, const Group& group, double bytes, bool closed);

}  // namespace shardlab::sim
