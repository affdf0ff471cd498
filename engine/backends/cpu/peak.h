#pragma once

namespace shardlab::cpu {

/// The rate of fused multiply-adds that one core reaches with all operands in registers: the
/// denominator of every "fraction of peak".
///
/// Units    Flop per second; a multiply-add counts as two.
/// Cost     About 0.1 s on the calling thread.
[[nodiscard]] double measure_fma_peak_flops(bool float64 = false);

}  // namespace shardlab::cpu
