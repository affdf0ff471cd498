#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/sim/quantity.h"

namespace shardlab::sim {

/// The kernels of one merge of a block of attention into what is there.
struct MergeStyle {
  int kernels = 0;        ///< Over the block of queries; 0: as this engine does.
  double passes = 0;      ///< Reads and writes of the block by all of them together.
  int small_kernels = 0;  ///< Over one number for each row of the block.

  bool operator==(const MergeStyle&) const = default;
};

/// How software runs an attention whose tokens are cut.
struct RingStyle {
  bool overlaps = true;          ///< Keys and values travel while the block before is worked on.
  int messages = 1;              ///< Of a pair of keys and values, or of their gradients.
  bool returns = false;          ///< Keys and values are passed on after the last block too.
  MergeStyle first, each, last;  ///< Of the first block, of each later one, and after the last.
  int conversions = 0;           ///< Ops on sharded tensors around a call.

  bool operator==(const RingStyle&) const = default;
};

/// How a float32 attention kernel is cut: one thread block for so many rows of one head.
struct AttentionBlocks {
  int narrow_rows = 0;    ///< Queries, heads of at most `narrow_width`; 0: not known.
  int wide_rows = 0;      ///< Queries, wider heads.
  int gradient_rows = 0;  ///< Keys, of its gradient.
  int narrow_width = 0;
};

/// Software that runs a scenario: what it costs besides the device's work, and what it keeps.
struct Profile {
  std::string name;
  std::string about;

  Quantity op_issue;       ///< Host seconds of an op on a whole tensor.
  Quantity sharded_issue;  ///< Host seconds of an op on a sharded tensor.
  Quantity call_issue;     ///< Host seconds to start a communication.
  Quantity ring_message;   ///< Host seconds to send a message round a ring, and to await one.
  RingStyle ring;
  AttentionBlocks blocks;
  Quantity beside;  ///< Factor on kernels while a communication runs beside them.

  bool keeps_training_state = false;  ///< Inference with gradients and optimizer state alive.
  /// Blocks of the size of a rank's queries that a sharded attention holds beyond the engine's own.
  Quantity attention_blocks;
};

/// All profiles, `shardlab` first.
[[nodiscard]] std::span<const Profile> profiles();

/// Errors   Error{invalid} naming the known ones.
[[nodiscard]] const Profile& find_profile(std::string_view name);

}  // namespace shardlab::sim
