#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/sim/quantity.h"

namespace shardlab::sim {

/// Software that runs a scenario: what it costs besides the device's work, and what it keeps.
struct Profile {
  std::string name;
  std::string about;

  Quantity op_issue;          ///< Host seconds of an op on a whole tensor.
  Quantity sharded_issue;     ///< Host seconds of an op on a sharded tensor.
  Quantity call_issue;        ///< Host seconds to start a communication.
  Quantity ring_step;         ///< Host seconds to issue a step of a ring.
  Quantity merge_passes;      ///< Times a merge of blocks moves what the engine's own does.
  bool ring_overlaps = true;  ///< Keys and values travel while the block before is worked on.
  Quantity beside;            ///< Factor on kernels while a communication runs beside them.

  bool keeps_training_state = false;  ///< Inference with gradients and optimizer state alive.
  /// Blocks of the size of a rank's queries that a sharded attention holds beyond the engine's own.
  Quantity attention_blocks;
};

/// All profiles, `shardlab` first.
[[nodiscard]] std::span<const Profile> profiles();

/// Errors   Error{invalid} naming the known ones.
[[nodiscard]] const Profile& find_profile(std::string_view name);

}  // namespace shardlab::sim
