#pragma once

#include "engine/core/trace.h"
#include "engine/sim/profile.h"

namespace shardlab::sim {

/// The steps of a trace as the software of a profile takes them: what differs is the ring
/// attention.
///
/// Each exchange becomes as many messages as the profile sends for a pair, each waited for where
/// the pair was; each merge becomes its kernels; after the last block the keys and values go round
/// once more where the profile returns them; around each call stand the conversions of its tensors.
/// A trace without a ring, or a profile that runs the ring as this engine does, stays as it is.
///
/// Cost     One pass over the steps.
/// Errors   Error{internal} on a wait for an exchange that was never started.
[[nodiscard]] Trace as_run_by(const Profile& profile, const Trace& trace);

}  // namespace shardlab::sim
