#pragma once

#include <vector>

#include "engine/dispatch/worker.h"
#include "engine/ops/optimizer_step.h"

namespace shardlab::nn {

/// AdamW over all parameters of a worker; moments lie where the parameters are stored.
class AdamWOptimizer {
 public:
  AdamWOptimizer(Worker& worker, AdamWOptions options);

  /// Updates every parameter by its gradient, then drops the gradients.
  ///
  /// Errors   Error{invalid} naming a parameter that has no gradient.
  void step();

 private:
  struct Slot {
    Tensor parameter;
    Tensor first;
    Tensor second;
  };
  AdamWOptions options_;
  std::vector<Slot> slots_;
  std::int64_t steps_ = 0;
};

}  // namespace shardlab::nn
