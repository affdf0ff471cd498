#pragma once

#include <string>
#include <string_view>

#include "engine/core/scenario.h"

namespace shardlab {

/// What stays the same while ranks are added: the problem, or the part of it that a rank has.
enum class Scaling { strong, weak };

/// Errors   Error{invalid} naming the nearest known one.
[[nodiscard]] Scaling parse_scaling(std::string_view text);

/// The parameters of the problem of which each rank of a mesh has these.
///
/// Errors   Error{unsupported} if nothing grows in the scenario; Error{invalid} for an axis of
///          several ranks with which nothing grows, and for a size that is no number or grows
///          beyond 64 bits.
[[nodiscard]] Params grown(const Scenario& scenario, const Params& one_rank, const Mesh& mesh);

}  // namespace shardlab
