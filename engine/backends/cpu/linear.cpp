#include "engine/ops/linear.h"

#include <cstdint>
#include <span>

#include "engine/backends/cpu/kernels.h"
#include "engine/backends/cpu/loops.h"

namespace shardlab::cpu {
namespace {

std::int64_t rows_of(const Shape& shape) {
  std::int64_t rows = 1;
  for (int d = 0; d + 1 < shape.ndim(); ++d) rows *= shape[d];
  return rows;
}

std::int64_t last(const Shape& shape) { return shape[shape.ndim() - 1]; }

/// All dims but the two of a matrix.
View leading(const View& view) {
  View outer = view;
  outer.shape = Shape(std::span(view.shape.begin(), view.shape.end() - 2));
  return outer;
}

Strides leading_strides(const View& view, const View& whole) {
  return broadcast_strides(leading(view), leading(whole).shape);
}

template <typename T>
Matrix<T> innermost(const View& view, std::int64_t offset) {
  const int row = view.shape.ndim() - 2;
  return {static_cast<T*>(view.data) + offset, view.shape[row], view.shape[row + 1],
          view.strides[row], view.strides[row + 1]};
}

}  // namespace

template <typename T>
void linear(const Call& call, Tools& tools) {
  const View& x = *call.inputs[0];
  const View& w = *call.inputs[1];
  const View& out = *call.outputs[0];
  const std::int64_t rows = rows_of(x.shape);
  const std::int64_t width = w.shape[0];
  const std::int64_t depth = w.shape[1];
  const T* bias = call.inputs.size() > 2 ? call.inputs[2]->as<T>() : nullptr;
  tools.product(Matrix<const T>{x.as<T>(), rows, depth, depth},
                Matrix<const T>{w.as<T>(), depth, width, w.strides[1], w.strides[0]}, bias, false,
                Matrix<T>{out.as<T>(), rows, width, width});
}

template <typename T>
void outer_sum(const Call& call, Tools& tools) {
  const View& a = *call.inputs[0];
  const View& b = *call.inputs[1];
  const std::int64_t rows = rows_of(a.shape);
  const std::int64_t m = last(a.shape);
  const std::int64_t n = last(b.shape);
  tools.product(Matrix<const T>{a.as<T>(), m, rows, 1, m}, Matrix<const T>{b.as<T>(), rows, n, n},
                nullptr, false, Matrix<T>{call.outputs[0]->as<T>(), m, n, n});
}

template <typename T>
void matmul(const Call& call, Tools& tools) {
  const View& a = *call.inputs[0];
  const View& b = *call.inputs[1];
  const View& out = *call.outputs[0];
  const Loop<3> loop(leading(out).shape,
                     {leading_strides(a, out), leading_strides(b, out), leading_strides(out, out)});
  loop.for_each_run([&](const Loop<3>::Offsets& offset) {
    tools.product.batched(
        loop.run(), MatrixBatch<const T>{innermost<const T>(a, offset[0]), loop.stride(0)},
        MatrixBatch<const T>{innermost<const T>(b, offset[1]), loop.stride(1)}, nullptr, false,
        MatrixBatch<T>{innermost<T>(out, offset[2]), loop.stride(2)});
  });
}

template void linear<float>(const Call&, Tools&);
template void linear<double>(const Call&, Tools&);
template void outer_sum<float>(const Call&, Tools&);
template void outer_sum<double>(const Call&, Tools&);
template void matmul<float>(const Call&, Tools&);
template void matmul<double>(const Call&, Tools&);

}  // namespace shardlab::cpu
