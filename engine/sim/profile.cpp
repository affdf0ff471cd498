#include "engine/sim/profile.h"

#include <vector>

#include "engine/core/check.h"

namespace shardlab::sim {
namespace {

Quantity measured(double value, const char* from, double half_width = 0.10) {
  return {value, Source::public_measured, from, half_width};
}

Quantity derived(double value, const char* from, double half_width = 0.20) {
  return {value, Source::derived, from, half_width};
}

/// RingSDPABlocking in distributed/shard_utils/attention_patches.py of PhysicsNeMo at 8a18a81,
/// which its scaled_dot_product_attention calls, and perform_ring_iteration in ring.py beside it.
///
/// Forward, one of P rounds: a block, its merge, keys sent and awaited, values sent and awaited.
/// Backward: the gradients of a block, three sums, then keys, values and both their gradients, each
/// sent and awaited by itself. Outputs are joined as logarithms of magnitudes and signs: abs, log
/// and sign of the block and the sum with its log-sum-exp (4 kernels, 8 passes); joined with what
/// is there by a maximum, a minimum, a comparison of signs, 4 kernels for equal signs, 5 for
/// opposite ones, and 4 that choose (16 kernels more, 42.25 passes more; a truth value is a quarter
/// of a number) and 8 on log-sum-exps; at the end a difference, an exponential, a product (7
/// passes).
RingStyle blocking_ring() {
  RingStyle ring;
  ring.overlaps = false;
  ring.messages = 2;
  ring.returns = true;
  ring.first = {4, 8, 0};
  ring.each = {20, 50.25, 8};
  ring.last = {3, 7, 0};
  // The output becomes a sharded tensor again; without gradients to_local hands out what is there.
  ring.conversions = 1;
  return ring;
}

/// Memory-efficient attention of PyTorch, which float32 takes: the kernels for compute
/// capability 8.0 and above are cutlassF_f32_aligned_64x128_rf and _32x128_gmem,
/// cutlassB_f32_aligned_128x64_k128 and _64x64_k65536
/// (aten/src/ATen/native/transformers/cuda/mem_eff_attention/kernels), queries by keys of a block;
/// the gradient has a block for each tile of keys.
AttentionBlocks efficient_attention() { return {64, 32, 64, 128}; }

std::vector<Profile> all() {
  Profile own;
  own.name = "shardlab";
  own.about = "this engine";
  own.op_issue = measured(0.25e-6, "tools/perf, dispatch of an add with tape on one rank");
  own.sharded_issue = measured(0.35e-6, "tools/perf, the same sharded over two ranks");
  own.call_issue = derived(2e-6, "one grouped library call", 0.5);
  own.ring_message = derived(4e-6, "a grouped send and receive, and its wait", 0.5);
  own.beside =
      derived(1.05, "a ring of 2 to 8 channels takes as many of 108 to 148 processors", 0.05);
  own.attention_blocks = derived(0, "all of its memory is counted", 0.0);

  Profile old;
  old.name = "pytorch-shardtensor-2025";
  old.about = "PyTorch and PhysicsNeMo ShardTensor of 2025: a ring without overlap";
  old.op_issue = measured(5e-6, "PyTorch eager, add to gelu with gradients", 0.5);
  old.sharded_issue = measured(80e-6, "ShardTensor 2.2 on two ranks, add to linear", 0.5);
  old.call_issue = derived(50e-6, "a call through torch.distributed", 0.5);
  old.ring_message =
      derived(0.1e-3, "what 29 ops at 10 us leave of 8 blocks in 2.97 ms, 2 messages a block", 0.5);
  old.ring = blocking_ring();
  old.blocks = efficient_attention();
  old.beside = derived(1.05, "as shardlab", 0.05);
  old.keeps_training_state = true;
  old.attention_blocks =
      derived(5, "contiguous copies of q, k and v and the pair that comes in", 0.4);

  Profile now = old;
  now.name = "pytorch-shardtensor-2026";
  now.about = "the same of 2026: the next keys and values travel while a block is worked on";
  now.sharded_issue = measured(80e-6, "ShardTensor 2.2 on two ranks, measured per op", 0.3);
  now.ring.overlaps = true;
  now.ring.returns = false;
  return {own, old, now};
}

}  // namespace

std::span<const Profile> profiles() {
  static const std::vector<Profile> known = all();
  return known;
}

const Profile& find_profile(std::string_view name) {
  std::string names;
  for (const Profile& profile : profiles()) {
    if (profile.name == name) return profile;
    names += (names.empty() ? "" : ", ") + profile.name;
  }
  fail(Fault::invalid, "profile {}: known are {}", name, names);
}

}  // namespace shardlab::sim
