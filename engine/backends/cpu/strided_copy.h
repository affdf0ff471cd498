#pragma once

#include <cstdint>

#include "engine/core/backend.h"

namespace shardlab::cpu {

/// Copies elements between any strides; `from` is repeated to the shape of `to` where it is
/// narrower. The memory of the two must not overlap.
///
/// Units    T stands for any element of its width.
template <typename T>
void copy_elements(const View& from, const View& to);

/// Sets every element of any strides.
template <typename T>
void fill_elements(const View& to, T value);

/// The elements begin .. begin + count of a dim, every `step`-th.
template <typename T>
[[nodiscard]] View part_of(const View& view, int dim, std::int64_t begin, std::int64_t count,
                           std::int64_t step = 1) {
  View part = view;
  part.data = view.as<T>() + begin * view.strides[dim];
  part.shape[dim] = count;
  part.strides[dim] *= step;
  return part;
}

}  // namespace shardlab::cpu
