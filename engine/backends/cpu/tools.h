#pragma once

#include "engine/backends/cpu/matrix_product.h"

namespace shardlab::cpu {

/// What the kernels of one rank share because it is dear to make.
struct Tools {
  MatrixProduct& product;
};

}  // namespace shardlab::cpu
