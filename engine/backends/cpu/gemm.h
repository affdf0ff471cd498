#pragma once

#include "engine/backends/cpu/library_memory.h"
#include "engine/backends/cpu/matrix.h"

namespace shardlab::cpu {

/// out = a * b, or out += a * b if `accumulate`, by our own vector kernels for one thread.
///
/// An element is summed in the same order wherever it lies in `out`: products of some rows or
/// columns are bitwise equal to the same part of the whole.
/// Shapes   (m, k) (k, n) -> (m, n), k > 0; any strides of a and b, contiguous rows of out.
/// Cost     Packed copies in `scratch`, 7 MiB at most.
void gemm(Matrix<const double> a, Matrix<const double> b, bool accumulate, Matrix<double> out,
          Scratch& scratch);
void gemm(Matrix<const float> a, Matrix<const float> b, bool accumulate, Matrix<float> out,
          Scratch& scratch);

}  // namespace shardlab::cpu
