#pragma once

#include "engine/sim/nccl.h"

namespace shardlab::sim::nccl {

/// Refuses a call that no communicator could make.
///
/// Errors   Error{invalid} on a group that does not fit the wires, wires without a rate that the
///          group needs, a GPU generation without tables, negative bytes.
void check_call(const Wires& wires, const Group& group, double bytes);

}  // namespace shardlab::sim::nccl
