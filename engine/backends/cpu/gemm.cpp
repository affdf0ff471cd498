#include "engine/backends/cpu/gemm.h"

// Vectors of a scalable length cannot be kept in arrays; NEON serves those processors.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backends/cpu/gemm.cpp"
#include <hwy/foreach_target.h>

#include "engine/backends/cpu/gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardlab::cpu {
namespace HWY_NAMESPACE {

void gemm_float64(const Matrix<const double>& a, const Matrix<const double>& b, bool accumulate,
                  const Matrix<double>& out, Scratch& scratch) {
  gemm_kernels::gemm(a, b, accumulate, out, scratch);
}

void gemm_float32(const Matrix<const float>& a, const Matrix<const float>& b, bool accumulate,
                  const Matrix<float>& out, Scratch& scratch) {
  gemm_kernels::gemm(a, b, accumulate, out, scratch);
}

}  // namespace HWY_NAMESPACE
}  // namespace shardlab::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardlab::cpu {
HWY_EXPORT(gemm_float64);
HWY_EXPORT(gemm_float32);

void gemm(Matrix<const double> a, Matrix<const double> b, bool accumulate, Matrix<double> out,
          Scratch& scratch) {
  HWY_DYNAMIC_DISPATCH(gemm_float64)(a, b, accumulate, out, scratch);
}

void gemm(Matrix<const float> a, Matrix<const float> b, bool accumulate, Matrix<float> out,
          Scratch& scratch) {
  HWY_DYNAMIC_DISPATCH(gemm_float32)(a, b, accumulate, out, scratch);
}

}  // namespace shardlab::cpu
#endif
