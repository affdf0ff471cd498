#include "engine/ops/linear.h"

#include <cstdint>

#include "engine/backends/cpu/kernels.h"
#include "engine/backends/cpu/loops.h"

namespace shardlab::cpu {
namespace {

template <typename T>
struct Rows {
  T* data;
  std::int64_t rows, columns, row_stride, column_stride;
};

template <typename T>
void product(Rows<const T> a, Rows<const T> b, const T* bias, Rows<T> out) {
  for (std::int64_t r = 0; r < out.rows; ++r)
    for (std::int64_t c = 0; c < out.columns; ++c) {
      T total = bias == nullptr ? T(0) : bias[c];
      const T* x = a.data + r * a.row_stride;
      const T* y = b.data + c * b.column_stride;
      if (a.column_stride == 1 && b.row_stride == 1) {
        T parts[16]{};
        std::int64_t k = 0;
        for (; k + 16 <= a.columns; k += 16)
          for (int i = 0; i < 16; ++i) parts[i] += x[k + i] * y[k + i];
        for (int i = 0; i < 16; ++i) total += parts[i];
        for (; k < a.columns; ++k) total += x[k] * y[k];
      } else {
        for (std::int64_t k = 0; k < a.columns; ++k)
          total += x[k * a.column_stride] * y[k * b.row_stride];
      }
      out.data[r * out.row_stride + c * out.column_stride] = total;
    }
}

std::int64_t rows_of(const Shape& shape) {
  std::int64_t rows = 1;
  for (int d = 0; d + 1 < shape.ndim(); ++d) rows *= shape[d];
  return rows;
}

std::int64_t last(const Shape& shape) { return shape[shape.ndim() - 1]; }

}  // namespace

template <typename T>
void linear(const Call& call, Tools&) {
  const View& x = *call.inputs[0];
  const View& w = *call.inputs[1];
  const View& out = *call.outputs[0];
  const std::int64_t rows = rows_of(x.shape);
  const std::int64_t in = last(x.shape);
  const std::int64_t width = w.shape[0];
  product<T>({x.as<T>(), rows, in, in, 1}, {w.as<T>(), in, width, w.strides[1], w.strides[0]},
             call.inputs.size() > 2 ? call.inputs[2]->as<T>() : nullptr,
             {out.as<T>(), rows, width, width, 1});
}

template <typename T>
void outer_sum(const Call& call, Tools&) {
  const View& a = *call.inputs[0];
  const View& b = *call.inputs[1];
  const std::int64_t rows = rows_of(a.shape);
  const std::int64_t m = last(a.shape);
  const std::int64_t n = last(b.shape);
  product<T>({a.as<T>(), m, rows, 1, m}, {b.as<T>(), rows, n, n, 1}, nullptr,
             {call.outputs[0]->as<T>(), m, n, n, 1});
}

template <typename T>
void matmul(const Call& call, Tools&) {
  const View& a = *call.inputs[0];
  const View& b = *call.inputs[1];
  const View& out = *call.outputs[0];
  const int lead = out.shape.ndim() - 2;
  Shape batch;
  for (int d = 0; d < lead; ++d) batch.push_back(out.shape[d]);
  const auto leading = [&](const View& view) {
    View outer = view;
    outer.shape = {};
    for (int d = 0; d + 2 < view.shape.ndim(); ++d) outer.shape.push_back(view.shape[d]);
    return broadcast_strides(outer, batch);
  };
  const int da = a.shape.ndim() - 2;
  const int db = b.shape.ndim() - 2;
  const std::int64_t m = out.shape[lead];
  const std::int64_t n = out.shape[lead + 1];
  const std::int64_t k = a.shape[da + 1];
  const Loop<3> loop(batch, {leading(a), leading(b), leading(out)});
  loop.for_each_run([&](const Loop<3>::Offsets& offset) {
    for (std::int64_t i = 0; i < loop.run(); ++i)
      product<T>({a.as<T>() + offset[0] + i * loop.stride(0), m, k, a.strides[da],
                  a.strides[da + 1]},
                 {b.as<T>() + offset[1] + i * loop.stride(1), k, n, b.strides[db],
                  b.strides[db + 1]},
                 nullptr, {out.as<T>() + offset[2] + i * loop.stride(2), m, n, n, 1});
  });
}

template void linear<float>(const Call&, Tools&);
template void linear<double>(const Call&, Tools&);
template void outer_sum<float>(const Call&, Tools&);
template void outer_sum<double>(const Call&, Tools&);
template void matmul<float>(const Call&, Tools&);
template void matmul<double>(const Call&, Tools&);

}  // namespace shardlab::cpu
