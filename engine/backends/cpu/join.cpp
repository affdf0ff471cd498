#include <algorithm>
#include <cstdint>

#include "engine/backends/cpu/kernels.h"
#include "engine/backends/cpu/strided_copy.h"
#include "engine/core/check.h"
#include "engine/dispatch/intrinsic.h"

namespace shardlab::cpu {

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
    clear_elements(part_of(out, dim, 0, begin));
    clear_elements(part_of(out, dim, end, extent - end));
  } else {
    clear_elements(out);
  }
  copy_elements(part, part_of(out, dim, begin, count, range.step));
}

void concat(const Call& call, Tools&) {
  const int dim = static_cast<const Concat*>(call.op)->dim();
  std::int64_t begin = 0;
  for (const View* part : call.inputs) {
    copy_elements(*part, part_of(*call.outputs[0], dim, begin, part->shape[dim]));
    begin += part->shape[dim];
  }
}

}  // namespace shardlab::cpu
