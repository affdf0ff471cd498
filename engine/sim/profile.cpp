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

std::vector<Profile> all() {
  Profile own;
  own.name = "shardlab";
  own.about = "this engine";
  own.op_issue = measured(0.25e-6, "tools/perf, dispatch of an add with tape on one rank");
  own.sharded_issue = measured(0.35e-6, "tools/perf, the same sharded over two ranks");
  own.call_issue = derived(2e-6, "one grouped library call", 0.5);
  own.ring_step = derived(4e-6, "a grouped send and receive, and its wait", 0.5);
  own.merge_passes = derived(1, "one kernel", 0.0);
  own.beside =
      derived(1.05, "a ring of 2 to 8 channels takes as many of 108 to 148 processors", 0.05);
  own.attention_blocks = derived(0, "all of its memory is counted", 0.0);

  Profile old;
  old.name = "pytorch-shardtensor-2025";
  old.about = "PyTorch and PhysicsNeMo ShardTensor of 2025: a ring without overlap";
  old.op_issue = measured(5e-6, "PyTorch eager, add to gelu with gradients", 0.5);
  old.sharded_issue = measured(80e-6, "ShardTensor 2.2 on two ranks, add to linear", 0.5);
  old.call_issue = derived(50e-6, "a call through torch.distributed", 0.5);
  old.ring_step = measured(0.37e-3, "8 GPUs at 1,024 tokens: 2.97 ms over 8 blocks", 0.1);
  old.merge_passes = derived(15, "about 15 elementwise kernels of a log-sum-exp with signs", 0.4);
  old.ring_overlaps = false;
  old.beside = derived(1.05, "as shardlab", 0.05);
  old.keeps_training_state = true;
  old.attention_blocks =
      derived(5, "contiguous copies of q, k and v and the pair that comes in", 0.4);

  Profile now = old;
  now.name = "pytorch-shardtensor-2026";
  now.about = "the same of 2026: the next keys and values travel while a block is worked on";
  now.sharded_issue = measured(80e-6, "ShardTensor 2.2 on two ranks, measured per op", 0.3);
  now.ring_step = derived(0.37e-3, "as in 2025: the merge is the same", 0.3);
  now.ring_overlaps = true;
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
