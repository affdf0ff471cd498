#include "engine/ops/attention.h"

#include "engine/backends/cpu/attention_tiles.h"
#include "engine/backends/cpu/kernels.h"
#include "engine/core/check.h"

namespace shardlab::cpu {
namespace {

template <typename T>
AttentionView<T> lies(const View& view) {
  return {static_cast<T*>(view.data), view.strides[0], view.strides[1], view.strides[2],
          view.strides[3]};
}

AttentionSizes sizes_of(const Call& call, double scale) {
  const Shape& q = call.inputs[0]->shape;
  const Shape& k = call.inputs[1]->shape;
  return {q[0], q[1], k[1], q[2], q[3], call.inputs[2]->shape[3], scale};
}

/// The op's scratch memory, if it holds what the kernel needs.
std::byte* workspace_of(const Call& call, std::int64_t needed) {
  const std::int64_t granted = call.op->workspace_bytes(call.inputs, call.outputs);
  expect(needed <= granted, "{}: the kernel needs {} bytes of workspace, the op grants {}",
         call.op->name(), needed, granted);
  return static_cast<std::byte*>(call.workspace);
}

}  // namespace

template <typename T>
void attention(const Call& call, Tools&) {
  const auto sizes = sizes_of(call, static_cast<const Attention*>(call.op)->scale());
  attention_forward<T>(sizes, lies<const T>(*call.inputs[0]), lies<const T>(*call.inputs[1]),
                       lies<const T>(*call.inputs[2]), lies<T>(*call.outputs[0]),
                       call.outputs[1]->as<T>(),
                       workspace_of(call, attention_forward_workspace_bytes(sizes, sizeof(T))));
}

template <typename T>
void attention_gradient(const Call& call, Tools&) {
  const auto sizes = sizes_of(call, static_cast<const AttentionGradient*>(call.op)->scale());
  attention_backward<T>(
      sizes, lies<const T>(*call.inputs[0]), lies<const T>(*call.inputs[1]),
      lies<const T>(*call.inputs[2]), lies<const T>(*call.inputs[3]), call.inputs[4]->as<T>(),
      lies<const T>(*call.inputs[5]), call.inputs.size() > 6 ? call.inputs[6]->as<T>() : nullptr,
      lies<T>(*call.outputs[0]), lies<T>(*call.outputs[1]), lies<T>(*call.outputs[2]),
      workspace_of(call, attention_backward_workspace_bytes(sizes, sizeof(T))));
}

template void attention<float>(const Call&, Tools&);
template void attention<double>(const Call&, Tools&);
template void attention_gradient<float>(const Call&, Tools&);
template void attention_gradient<double>(const Call&, Tools&);

}  // namespace shardlab::cpu
