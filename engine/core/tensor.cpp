#include "engine/core/tensor.h"

namespace shardlab {

std::int64_t Tensor::extent(int dim) const { return shape()[resolve_dim(dim, ndim(), "extent")]; }

}  // namespace shardlab
