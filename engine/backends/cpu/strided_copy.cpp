#include "engine/backends/cpu/strided_copy.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/backends/cpu/loops.h"

namespace shardlab::cpu {
namespace {

template <typename T>
void copy_run(const T* from, std::int64_t from_stride, T* to, std::int64_t to_stride,
              std::int64_t count) {
  if (to_stride == 1 && from_stride == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
  } else if (to_stride == 1 && from_stride == 0) {
    std::fill(to, to + count, *from);
  } else {
    for (std::int64_t i = 0; i < count; ++i) to[i * to_stride] = from[i * from_stride];
  }
}

/// Rows of `to` are columns of `from`: blocks that fit the nearest cache on both sides.
template <typename T>
void copy_transposed(const T* from, std::int64_t from_column, T* to, std::int64_t to_row,
                     std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t block = 64 / sizeof(T);
  for (std::int64_t row = 0; row < rows; row += block) {
    const std::int64_t row_end = std::min(row + block, rows);
    for (std::int64_t column = 0; column < columns; column += block) {
      const std::int64_t column_end = std::min(column + block, columns);
      for (std::int64_t r = row; r < row_end; ++r)
        for (std::int64_t c = column; c < column_end; ++c)
          to[r * to_row + c] = from[r + c * from_column];
    }
  }
}

}  // namespace

template <typename T>
void copy_elements(const View& from, const View& to) {
  Loop<2> loop(to.shape, {broadcast_strides(from, to.shape), to.strides});
  const T* const source = from.as<T>();
  T* const target = to.as<T>();
  int across = 0;
  for (int d = 1; d < loop.outer_dims; ++d)
    if (loop.outer[d][0] == 1) across = d;
  if (across == 0 || loop.stride(0) == 1 || loop.stride(1) != 1) {
    loop.for_each_run([&](const Loop<2>::Offsets& offset) {
      copy_run(source + offset[0], loop.stride(0), target + offset[1], loop.stride(1), loop.run());
    });
    return;
  }
  const std::int64_t rows = std::exchange(loop.extent[across], loop.empty ? 0 : 1);
  const std::int64_t to_row = loop.outer[across][1];
  loop.for_each_run([&](const Loop<2>::Offsets& offset) {
    copy_transposed(source + offset[0], loop.stride(0), target + offset[1], to_row, rows,
                    loop.run());
  });
}

template <typename T>
void fill_elements(const View& to, T value) {
  const Loop<1> loop(to.shape, {to.strides});
  T* const target = to.as<T>();
  loop.for_each_run([&](const Loop<1>::Offsets& offset) {
    T* const run = target + offset[0];
    if (loop.stride(0) == 1)
      std::fill(run, run + loop.run(), value);
    else
      for (std::int64_t i = 0; i < loop.run(); ++i) run[i * loop.stride(0)] = value;
  });
}

template void copy_elements<std::uint16_t>(const View&, const View&);
template void copy_elements<float>(const View&, const View&);
template void copy_elements<double>(const View&, const View&);
template void copy_elements<std::int64_t>(const View&, const View&);
template void fill_elements(const View&, std::uint16_t);
template void fill_elements(const View&, float);
template void fill_elements(const View&, double);
template void fill_elements(const View&, std::int64_t);

}  // namespace shardlab::cpu
