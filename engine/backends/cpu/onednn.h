#pragma once

#include <memory>
#include <string>

#include "engine/backends/cpu/library_memory.h"
#include "engine/backends/cpu/matrix.h"

namespace shardlab::cpu {

/// Matrix products by oneDNN on the calling thread alone; one object per rank thread.
///
/// Primitives, their memory objects and argument lists are kept per shape, strides and form. They
/// never use the library's default scratchpad: threads that run one primitive with it get wrong
/// values without a word.
class OnednnMatmul {
 public:
  /// `scratch` may be shared with other users of the same thread.
  explicit OnednnMatmul(Scratch& scratch);
  ~OnednnMatmul();
  OnednnMatmul(const OnednnMatmul&) = delete;
  OnednnMatmul& operator=(const OnednnMatmul&) = delete;

  /// out = a * b (+ bias on every row, unless null) (+ out if `accumulate`).
  ///
  /// Shapes   (m, k) (k, n) -> (m, n), none of them 0; one stride of a and of b is 1 and the other
  ///          spans it, rows of out are contiguous.
  /// Cost     About 0.4 us besides the product; a new shape about 0.25 ms, once.
  /// Errors   Error{external} with the status of the library.
  void operator()(const Matrix<const float>& a, const Matrix<const float>& b, const float* bias,
                  bool accumulate, const Matrix<float>& out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// As the library tells it at run time, such as `2.6.3`.
[[nodiscard]] std::string onednn_version();

}  // namespace shardlab::cpu
