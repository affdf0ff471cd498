#include "engine/sim/attention_fill.h"

#include <cmath>

#include "engine/sim/rates.h"

namespace shardlab::sim {

double attention_fill(const Machine& machine, const Profile& profile, const Step& step) {
  const AttentionBlocks& blocks = profile.blocks;
  const Family family = family_of(step.op);
  // Output 0 of both kernels is [batch, tokens, heads, width].
  if (blocks.narrow_rows == 0 || step.kind != Step::Kind::kernel || step.dtype != Dtype::float32 ||
      step.local.ndim() != 4 || !machine.has("gpu.processors") ||
      (family != Family::attention && family != Family::attention_gradient))
    return 1;
  const bool wide = step.local[3] > blocks.narrow_width;
  const int rows = family == Family::attention_gradient ? blocks.gradient_rows
                   : wide                               ? blocks.wide_rows
                                                        : blocks.narrow_rows;
  const double count = static_cast<double>(step.local[0] * step.local[2]) *
                       std::ceil(static_cast<double>(step.local[1]) / rows);
  if (count == 0) return 1;
  const double processors = machine.value("gpu.processors");
  return count / (processors * std::ceil(count / processors));
}

}  // namespace shardlab::sim
