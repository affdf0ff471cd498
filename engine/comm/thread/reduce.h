#pragma once

#include <cstdint>
#include <span>

#include "engine/core/dtype.h"
#include "engine/core/layout.h"

namespace shardlab::thread {

/// Whether `reduce` knows this dtype.
[[nodiscard]] bool reduces(Dtype dtype);

/// Reduces `count` elements of every input, in the order given, and writes the result to every
/// output; an output may be the same memory as an input. Max keeps NaN.
///
/// Errors   Error{internal} for a dtype that it does not know.
void reduce(std::span<const void* const> inputs, std::span<void* const> outputs, std::int64_t count,
            Dtype dtype, Reduction reduction);

}  // namespace shardlab::thread
