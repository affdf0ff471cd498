#pragma once

#include <cstdint>

namespace shardlab::cpu {

/// Writes rows that are columns where they come from: to[r][c] = from[c][r].
///
/// Shapes   Elements of a row of `to` are adjacent, and so are those of a row of `from`.
/// Units    Strides are elements.
void transpose(const std::uint16_t* from, std::int64_t from_stride, std::uint16_t* to,
               std::int64_t to_stride, std::int64_t rows, std::int64_t columns);
void transpose(const std::uint32_t* from, std::int64_t from_stride, std::uint32_t* to,
               std::int64_t to_stride, std::int64_t rows, std::int64_t columns);
void transpose(const std::uint64_t* from, std::int64_t from_stride, std::uint64_t* to,
               std::int64_t to_stride, std::int64_t rows, std::int64_t columns);

}  // namespace shardlab::cpu
