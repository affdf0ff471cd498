#pragma once

#include <cstdint>

#include "engine/core/backend.h"

namespace shardlab::cpu {

/// Copies elements between any strides; `from` is repeated to the shape of `to` where it is
/// narrower. The memory of the two must not overlap.
void copy_elements(const View& from, const View& to);

/// Sets every element, of any strides, to zero.
void clear_elements(const View& to);

/// Sets every element, of any strides; T is that of the view.
template <typename T>
void fill_elements(const View& to, T value);

/// Elements of a dim from `begin` on, every `step`-th.
[[nodiscard]] View part_of(const View& view, int dim, std::int64_t begin, std::int64_t count,
                           std::int64_t step = 1);

}  // namespace shardlab::cpu
