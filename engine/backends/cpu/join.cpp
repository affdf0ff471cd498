#include <algorithm>
#include <cstdint>

#include "engine/backends/cpu/kernels.h"
#include "engine/backends/cpu/strided_copy.h"
#include "engine/core/check.h"
#include "engine/dispatch/intrinsic.h"

namespace shardlab::cpu {

template <typename T>
void embed(const Call& call, Tools&) {
  const Slice::Range& range = static_cast<const Embed*>(call.op)->range();
  const View& part = *call.inputs[0];
  const View& out = *call.outputs[0];
  const int dim = range.dim;
  const std::int64_t extent = out.shape[dim];
  const std::int64_t begin = std::clamp<std::int64_t>(range.begin - call.start[dim], 0, extent);
  const std::int64_t count = part.shape[dim];
  const std::int64_t end = count == 0 ? begin : begin + (count - 1) * range.step + 1;
  expect(end <= extent, "embed: elements {} to {} of dim {}, which is {} here", begin, end, dim,
         extent);
  if (range.step == 1) {
    fill_elements(part_of<T>(out, dim, 0, begin), T(0));
    fill_elements(part_of<T>(out, dim, end, extent - end), T(0));
  } else {
    fill_elements(out, T(0));
  }
  copy_elements<T>(part, part_of<T>(out, dim, begin, count, range.step));
}

template <typename T>
void concat(const Call& call, Tools&) {
  const int dim = static_cast<const Concat*>(call.op)->dim();
  std::int64_t begin = 0;
  for (const View* part : call.inputs) {
    copy_elements<T>(*part, part_of<T>(*call.outputs[0], dim, begin, part->shape[dim]));
    begin += part->shape[dim];
  }
}

template void embed<float>(const Call&, Tools&);
template void embed<double>(const Call&, Tools&);
template void embed<std::int64_t>(const Call&, Tools&);
template void embed<std::uint16_t>(const Call&, Tools&);
template void concat<float>(const Call&, Tools&);
template void concat<double>(const Call&, Tools&);
template void concat<std::int64_t>(const Call&, Tools&);
template void concat<std::uint16_t>(const Call&, Tools&);

}  // namespace shardlab::cpu
