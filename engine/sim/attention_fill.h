#pragma once

#include "engine/core/trace.h"
#include "engine/sim/machine.h"
#include "engine/sim/profile.h"

namespace shardlab::sim {

/// The share of a device's processors that an attention kernel keeps busy until its last thread
/// block is done.
///
/// Of B blocks of equal work the busiest of P processors gets ceil(B / P), so that the kernel takes
/// ceil(B / P) P / B times as long as if they divided evenly.
///
/// Returns  1 for other steps, where the profile names no blocks, or the machine no processors.
[[nodiscard]] double attention_fill(const Machine& machine, const Profile& profile,
                                    const Step& step);

}  // namespace shardlab::sim
