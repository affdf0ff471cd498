#include "engine/backends/cpu/strided_copy.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "engine/backends/cpu/loops.h"
#include "engine/backends/cpu/transpose.h"

namespace shardlab::cpu {
namespace {

/// Neighbours; short runs are copied in place of a call.
template <typename T>
void copy_dense(const T* from, T* to, std::int64_t count) {
  const auto bytes = static_cast<std::size_t>(count) * sizeof(T);
  constexpr std::size_t piece = 16;
  if (bytes > 512) {
    std::memcpy(to, from, bytes);
    return;
  }
  const auto* const source = reinterpret_cast<const std::byte*>(from);
  auto* const target = reinterpret_cast<std::byte*>(to);
  if (bytes >= piece) {
    for (std::size_t i = 0; i + piece <= bytes; i += piece)
      std::memcpy(target + i, source + i, piece);
    std::memcpy(target + bytes - piece, source + bytes - piece, piece);
  } else {
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[i];
  }
}

template <typename T>
void copy_run(const T* from, std::int64_t from_stride, T* to, std::int64_t to_stride,
              std::int64_t count) {
  if (to_stride == 1 && from_stride == 1)
    copy_dense(from, to, count);
  else if (to_stride == 1 && from_stride == 0)
    std::fill(to, to + count, *from);
  else
    for (std::int64_t i = 0; i < count; ++i) to[i * to_stride] = from[i * from_stride];
}

template <typename T>
void copy_loop(Loop<2> loop, const T* from, T* to) {
  int across = 0;
  for (int d = 1; d < loop.dims; ++d)
    if (loop.step[d][0] == 1) across = d;
  constexpr std::int64_t few = 4;
  const bool turned = across > 0 && loop.stride(0) != 1 && loop.stride(1) == 1 &&
                      loop.run() >= few && loop.extent[across] >= few;
  if (!turned) {
    loop.for_each_run([&](const Loop<2>::Offsets& offset) {
      copy_run(from + offset[0], loop.stride(0), to + offset[1], loop.stride(1), loop.run());
    });
    return;
  }
  const std::int64_t rows = std::exchange(loop.extent[across], 1);
  loop.for_each_run([&](const Loop<2>::Offsets& offset) {
    transpose(from + offset[0], loop.stride(0), to + offset[1], loop.step[across][1], rows,
              loop.run());
  });
}

template <typename T>
void fill_loop(const Loop<1>& loop, T* to, T value) {
  loop.for_each_run([&](const Loop<1>::Offsets& offset) {
    T* const run = to + offset[0];
    if (loop.stride(0) == 1)
      std::fill(run, run + loop.run(), value);
    else
      for (std::int64_t i = 0; i < loop.run(); ++i) run[i * loop.stride(0)] = value;
  });
}

}  // namespace

void copy_elements(const View& from, const View& to) {
  const Loop<2> loop = fills(from, to.shape) && fills(to, to.shape)
                           ? Loop<2>(to.shape.count())
                           : Loop<2>(to.shape, {broadcast_strides(from, to.shape), to.strides});
  switch (width_of(to.dtype)) {
    case 2:
      return copy_loop(loop, from.as<const std::uint16_t>(), to.as<std::uint16_t>());
    case 4:
      return copy_loop(loop, from.as<const std::uint32_t>(), to.as<std::uint32_t>());
    default:
      return copy_loop(loop, from.as<const std::uint64_t>(), to.as<std::uint64_t>());
  }
}

void clear_elements(const View& to) {
  const Loop<1> loop(to.shape, {to.strides});
  switch (width_of(to.dtype)) {
    case 2:
      return fill_loop(loop, to.as<std::uint16_t>(), std::uint16_t{0});
    case 4:
      return fill_loop(loop, to.as<std::uint32_t>(), std::uint32_t{0});
    default:
      return fill_loop(loop, to.as<std::uint64_t>(), std::uint64_t{0});
  }
}

template <typename T>
void fill_elements(const View& to, T value) {
  fill_loop(Loop<1>(to.shape, {to.strides}), to.as<T>(), value);
}

View part_of(const View& view, int dim, std::int64_t begin, std::int64_t count, std::int64_t step) {
  View part = view;
  part.data = view.as<std::byte>() + begin * view.strides[dim] * width_of(view.dtype);
  part.shape[dim] = count;
  part.strides[dim] *= step;
  return part;
}

template void fill_elements(const View&, float);
template void fill_elements(const View&, double);
template void fill_elements(const View&, std::int64_t);

}  // namespace shardlab::cpu
