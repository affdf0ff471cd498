#include <cstdint>

#include "engine/backends/cpu/kernels.h"
#include "engine/backends/cpu/strided_copy.h"
#include "engine/dispatch/intrinsic.h"

namespace shardlab::cpu {

void copy(const Call& call, Tools&) { copy_elements(*call.inputs[0], *call.outputs[0]); }

void expand(const Call& call, Tools&) { copy_elements(*call.inputs[0], *call.outputs[0]); }

void keep_first(const Call& call, Tools&) {
  if (static_cast<const KeepFirst*>(call.op)->first())
    copy_elements(*call.inputs[0], *call.outputs[0]);
  else
    clear_elements(*call.outputs[0]);
}

template <typename T>
void fill(const Call& call, Tools&) {
  fill_elements(*call.outputs[0], static_cast<T>(static_cast<const Fill*>(call.op)->value()));
}

template void fill<float>(const Call&, Tools&);
template void fill<double>(const Call&, Tools&);
template void fill<std::int64_t>(const Call&, Tools&);

}  // namespace shardlab::cpu
