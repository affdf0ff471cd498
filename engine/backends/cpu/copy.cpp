#include <cstdint>

#include "engine/backends/cpu/kernels.h"
#include "engine/backends/cpu/strided_copy.h"
#include "engine/dispatch/intrinsic.h"

namespace shardlab::cpu {

template <typename T>
void copy(const Call& call, Tools&) {
  copy_elements<T>(*call.inputs[0], *call.outputs[0]);
}

template <typename T>
void fill(const Call& call, Tools&) {
  fill_elements(*call.outputs[0], static_cast<T>(static_cast<const Fill*>(call.op)->value()));
}

template <typename T>
void keep_first(const Call& call, Tools&) {
  if (static_cast<const KeepFirst*>(call.op)->first())
    copy_elements<T>(*call.inputs[0], *call.outputs[0]);
  else
    fill_elements(*call.outputs[0], T(0));
}

template <typename T>
void expand(const Call& call, Tools&) {
  copy_elements<T>(*call.inputs[0], *call.outputs[0]);
}

template void copy<float>(const Call&, Tools&);
template void copy<double>(const Call&, Tools&);
template void copy<std::int64_t>(const Call&, Tools&);
template void copy<std::uint16_t>(const Call&, Tools&);
template void fill<float>(const Call&, Tools&);
template void fill<double>(const Call&, Tools&);
template void fill<std::int64_t>(const Call&, Tools&);
template void keep_first<float>(const Call&, Tools&);
template void keep_first<double>(const Call&, Tools&);
template void keep_first<std::int64_t>(const Call&, Tools&);
template void keep_first<std::uint16_t>(const Call&, Tools&);
template void expand<float>(const Call&, Tools&);
template void expand<double>(const Call&, Tools&);
template void expand<std::int64_t>(const Call&, Tools&);
template void expand<std::uint16_t>(const Call&, Tools&);

}  // namespace shardlab::cpu
